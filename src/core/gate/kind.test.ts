import { describe, expect, it } from "vitest";
import { UNLIMITED } from "./gate.ts";
import { bornAs, isWholeLine } from "./kind.ts";

describe("a gate that nobody has declared", () => {
  it.each([
    ["cluster", "skip", UNLIMITED],
    ["queue:stripe", "skip", UNLIMITED],
    ["runs", "skip", 10],
    ["tag:env", "skip", UNLIMITED],
    ["tag:env=prod", "skip", UNLIMITED],
    ["run:r1/workers", "skip", UNLIMITED],
    ["pool:gpu", "bypass", null],
    ["pool:tenant=acme", "bypass", null],
    ["mutex:ns/nightly", "strict", 1],
    ["semaphore:ns/config/key", "strict", null],
  ])("%s has a %s line and the limit %s", (key, line, limit) => {
    expect(bornAs(key)).toEqual({ line, limit });
  });

  it("of an unknown kind admits nobody until it is set, and then in order", () => {
    for (const key of ["queues:a", "", ":", "constructor:x", "__proto__", "toString"]) {
      expect(bornAs(key), key).toEqual({ line: "strict", limit: null });
    }
  });

  it("goes by its kind alone, whatever else its key holds", () => {
    expect(bornAs("pool:queue:stripe")).toEqual(bornAs("pool:x"));
  });
});

describe("a gate that every unit of a line asks for", () => {
  it("is the cluster cap, the run cap or a queue, and nothing else", () => {
    const keys = [
      "cluster",
      "runs",
      "run:r1/workers",
      "tag:env",
      "queue:stripe",
      "queue:",
      "pool:gpu",
      "pool:queue:a",
      "mutex:m",
      "clusters",
      "queue",
    ];
    expect(keys.filter(isWholeLine)).toEqual(["cluster", "runs", "queue:stripe", "queue:"]);
  });
});
