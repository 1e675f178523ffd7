import { describe, expect, test } from "vitest";
import { ALL_PORTS, missingVerbs, offers } from "./capabilities.ts";
import { openMemory } from "./memory/index.ts";

describe("a port", () => {
  test("is offered by a store that names it and has all of its verbs", () => {
    const store = openMemory();
    expect(offers(store, ALL_PORTS)).toBe(true);
    expect(ALL_PORTS.flatMap((port) => missingVerbs(store, port))).toEqual([]);
  });

  test("is not offered where a verb is missing, or where the store does not name it", () => {
    const { listen: _, ...deaf } = openMemory();
    expect([offers(deaf, ["wakeUps"]), offers(deaf, ["units", "gates"])]).toEqual([false, true]);
    expect(missingVerbs(deaf, "wakeUps")).toEqual(["listen"]);
    const store = openMemory();
    const capabilities = { ...store.capabilities, ports: ["units" as const] };
    expect(offers({ ...store, capabilities }, ["gates"])).toBe(false);
  });
});
