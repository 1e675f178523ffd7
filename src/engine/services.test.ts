import { describe, expect, test } from "vitest";
import type { Service, StopOptions } from "./service.ts";
import { Services } from "./services.ts";

function recorded(fails?: string) {
  const calls: string[] = [];
  const service = (name: string): Service => ({
    start: async () => {
      calls.push(`start ${name}`);
      if (name === fails) throw new Error(`${name} cannot start`);
    },
    stop: async ({ graceMs }: StopOptions = {}) => {
      calls.push(`stop ${name} ${graceMs}`);
    },
  });
  const shared = async (): Promise<void> => void calls.push("end what they shared");
  return { calls, services: new Services(["a", "b", "c"].map(service), shared) };
}

describe("services", () => {
  test("start in their order, and are all told how long a stop may take", async () => {
    const { calls, services } = recorded();
    await services.start();
    expect(calls.splice(0)).toEqual(["start a", "start b", "start c"]);
    await services.stop({ graceMs: 7 });
    expect(calls).toEqual(["stop a 7", "stop b 7", "stop c 7", "end what they shared"]);
  });

  test("of which one cannot start are stopped at once, and its error is told", async () => {
    const { calls, services } = recorded("b");
    await expect(services.start()).rejects.toThrow("b cannot start");
    expect(calls).toEqual(["start a", "start b", "stop a 0", "stop b 0", "stop c 0", "end what they shared"]);
  });

  test("stop without waiting for each other", async () => {
    const calls: string[] = [];
    const stuck: Service = { start: async () => {}, stop: () => new Promise(() => {}) };
    const quick: Service = { start: async () => {}, stop: async () => void calls.push("stopped") };
    void new Services([stuck, quick]).stop();
    expect(calls).toEqual(["stopped"]);
  });
});
