import { describe, expect, test } from "vitest";
import { everyMinute, MINUTE, START, World } from "../../../test/support/trigger-world.ts";
import { sensor } from "../../core/schedule/definition.ts";

describe("a sensor", () => {
  const look = { id: "inbox", every: "30s", timeout: "10s", workflow: "w" } as const;

  test("looks at once and then every interval, each time from its last cursor", async () => {
    const world = new World();
    const cursors: unknown[] = [];
    const run = ({ cursor = 0 }: { cursor: number }) => {
      cursors.push(cursor);
      return { cursor: cursor + 1, submit: [{ key: `k${cursor}`, input: cursor, tags: { n: `${cursor}` } }] };
    };
    const engine = await world.start({ sensors: [sensor({ ...look, tags: { env: "prod" }, run })] });
    await world.env.advance(MINUTE);
    expect(cursors).toEqual([0, 1, 2]);
    expect(await world.keys()).toEqual(["sensor:inbox:k0", "sensor:inbox:k1", "sensor:inbox:k2"]);
    await engine.stop();
    await world.start({ sensors: [sensor({ ...look, run })] });
    await world.env.advance(30_000);
    expect(cursors).toEqual([0, 1, 2, 3]);
  });

  test("that answers without a cursor keeps the one it has", async () => {
    const world = new World();
    const cursors: unknown[] = [];
    const run = ({ cursor }: { cursor?: number }) => {
      cursors.push(cursor);
      return cursors.length === 1 ? { cursor: 7 } : {};
    };
    await world.start({ sensors: [sensor({ ...look, run })] });
    await world.env.advance(60_000);
    expect(cursors.slice(0, 3)).toEqual([undefined, 7, 7]);
  });

  test("that submits a key again makes no second run", async () => {
    const world = new World();
    await world.start({ sensors: [sensor({ ...look, run: () => ({ submit: [{ key: "same" }] }) })] });
    await world.env.advance(5 * MINUTE);
    expect(await world.keys()).toEqual(["sensor:inbox:same"]);
  });

  test("that fails keeps its cursor, says why, and looks again after its interval", async () => {
    const world = new World();
    let looks = 0;
    const run = ({ cursor = 0 }: { cursor: number }) => {
      looks += 1;
      if (looks === 2) throw new Error("mailbox is away");
      return { cursor: cursor + 1, submit: [{ key: `k${cursor}` }] };
    };
    await world.start({ sensors: [sensor({ ...look, run })] });
    await world.env.advance(30_000);
    expect(await world.state("sensor inbox")).toMatchObject({
      cursor: 1,
      error: { message: "mailbox is away" },
    });
    await world.env.advance(29_999);
    expect(looks).toBe(2);
    await world.env.advance(1);
    expect(await world.keys()).toEqual(["sensor:inbox:k0", "sensor:inbox:k1"]);
    expect(await world.state("sensor inbox")).not.toHaveProperty("error");
  });

  test.each<[string, unknown, string]>([
    ["no object", 7, "A sensor must return"],
    ["no key", { submit: [{ input: 1 }] }, "needs a key"],
    ["a key that is too long", { submit: [{ key: "x".repeat(200) }] }, "1 to 178 bytes"],
    ["too much", { submit: Array.from({ length: 1_001 }, (_, i) => ({ key: `${i}` })) }, "1000 runs at once"],
    ["a cursor that is no JSON", { cursor: 1n }, "BigInt"],
  ])("that answers %s is told, and nothing of it is taken", async (_, answer, message) => {
    const world = new World();
    await world.start({ sensors: [sensor({ ...look, run: () => answer as never })] });
    expect(await world.keys()).toEqual([]);
    expect((await world.state("sensor inbox")).error).toMatchObject({
      message: expect.stringContaining(message),
    });
  });

  test("without a workflow, whose submission names none, is told", async () => {
    const world = new World();
    const { workflow: _, ...rest } = look;
    await world.start({ sensors: [sensor({ ...rest, run: () => ({ submit: [{ key: "k" }] }) })] });
    expect((await world.state("sensor inbox")).error).toMatchObject({
      message: expect.stringContaining("workflow"),
    });
  });

  test("that takes too long is aborted, and holds up nobody else meanwhile", async () => {
    const world = new World();
    const signals: AbortSignal[] = [];
    const run = ({ signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise<never>(() => {});
    };
    await world.start({ sensors: [sensor({ ...look, timeout: "5m", run })], schedules: [everyMinute] });
    await world.env.advance(5 * MINUTE - 1);
    expect(await world.keys()).toHaveLength(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await world.env.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect((await world.state("sensor inbox")).error).toMatchObject({
      message: "The sensor did not answer within 5m.",
    });
  });

  test("is not looked through by two processes at once", async () => {
    const world = new World();
    let now = 0;
    let most = 0;
    const run = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => void world.env.after(3_000, resolve));
      now -= 1;
      return {};
    };
    await Promise.all([1, 2, 3, 4].map(() => world.start({ sensors: [sensor({ ...look, run })] })));
    await world.env.advance(2 * MINUTE);
    expect(most).toBe(1);
  });

  test("of a process that is told to stop is given back as it was", async () => {
    const world = new World();
    let looks = 0;
    const run = () => {
      looks += 1;
      return new Promise<never>(() => {});
    };
    const engine = await world.start({ sensors: [sensor({ ...look, run })] });
    await engine.stop();
    expect((await world.store.triggers()).triggers[0]).toMatchObject({
      busy: false,
      state: "{}",
      nextAt: START,
    });
    await world.start({ sensors: [sensor({ ...look, run })] });
    expect(looks).toBe(2);
  });

  test("of a process that has died is looked through by another, after its time", async () => {
    const world = new World();
    const dead = { ...world.store, fire: () => new Promise<never>(() => {}) };
    void world.engine({ sensors: [sensor({ ...look, run: () => ({ cursor: 1 }) })] }, dead).start();
    await world.env.settle();
    await world.start({ sensors: [sensor({ ...look, run: () => ({ cursor: 2 }) })] });
    await world.env.advance(19_000);
    expect(await world.state("sensor inbox")).toEqual({});
    await world.env.advance(2_000);
    expect(await world.state("sensor inbox")).toMatchObject({ cursor: 2 });
  });
});
