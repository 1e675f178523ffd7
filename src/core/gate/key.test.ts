import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  clusterKey,
  familyOf,
  formatKey,
  kindOf,
  mutexKey,
  parseKey,
  poolKey,
  queueKey,
  runGateKey,
  runsKey,
  semaphoreKey,
  tagKey,
} from "./key.ts";

describe("a gate's key", () => {
  it("says its kind and name", () => {
    expect(clusterKey).toBe("cluster");
    expect(queueKey("stripe")).toBe("queue:stripe");
    expect(poolKey("gpu")).toBe("pool:gpu");
    expect(poolKey("tenant=acme")).toBe("pool:tenant=acme");
    expect(mutexKey("nightly", "default")).toBe("mutex:default/nightly");
    expect(semaphoreKey("my-config/workflow", "team")).toBe("semaphore:team/my-config/workflow");
    expect(runsKey).toBe("runs");
    expect(tagKey("env")).toBe("tag:env");
    expect(tagKey("env", "prod")).toBe("tag:env=prod");
    expect(runGateKey("r1", "workers")).toBe("run:r1/workers");
  });

  it("is taken apart again", () => {
    expect(parseKey("cluster")).toEqual({ kind: "cluster", name: "", value: null });
    expect(parseKey("queue:stripe")).toEqual({ kind: "queue", name: "stripe", value: null });
    expect(parseKey("pool:tenant=acme")).toEqual({ kind: "pool", name: "tenant", value: "acme" });
    expect(kindOf("mutex:ns/nightly")).toBe("mutex");
  });

  it("may hold anything in its value", () => {
    expect(parseKey("pool:tenant=a=b:c")).toEqual({ kind: "pool", name: "tenant", value: "a=b:c" });
  });

  it("belongs to a family when it has a value, and to none otherwise", () => {
    expect(familyOf("pool:tenant=acme")).toBe("pool:tenant=*");
    expect(familyOf("pool:tenant=a=b")).toBe("pool:tenant=*");
    expect(familyOf("pool:tenant=*")).toBeNull();
    expect(familyOf("pool:gpu")).toBeNull();
    expect(familyOf("cluster")).toBeNull();
    expect(familyOf(tagKey("tenant", "acme"))).toBe("tag:tenant=*");
    expect(familyOf(tagKey("tenant"))).toBeNull();
    expect(familyOf(runGateKey("r1", "workers"))).toBeNull();
  });

  it("is the same after being taken apart and put together", () => {
    const name = fc.stringMatching(/^[\w./-]+$/);
    const parts = fc.record({ kind: name, name, value: fc.option(fc.string()) });
    fc.assert(
      fc.property(parts, (some) => {
        expect(parseKey(formatKey(some))).toEqual(some);
      }),
    );
    expect(formatKey(parseKey("cluster"))).toBe("cluster");
  });
});
