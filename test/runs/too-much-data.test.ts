// A run whose data exceeds what a worker may read. Everything is measured before it is read, so the run fails
// with the sizes, or takes several looks. No process dies of it, and other runs continue.

import { expect, test } from "vitest";
import { advanceRuns } from "../../src/engine/runs/advance.ts";
import { hostEnv } from "../../src/env/host.ts";
import type { AppDefinition } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import type { Reading, Store } from "../../src/store/store.ts";
import { describeOn } from "../e2e/support/places.ts";
import { begun, Hands, sharedOn } from "../fan-out/support/bench.ts";

const MOST = 40_000;
const env = hostEnv();

const work = task({ id: "work", run: async (input: unknown) => input });

/** The most that one look has read and written, and how many looks there were. */
interface Load {
  read: number;
  written: number;
  looks: number;
}

/** Advances until there is no news. */
async function settled(store: Store): Promise<Load> {
  const load: Load = { read: 0, written: 0, looks: 0 };
  for (;;) {
    const asked: Reading[] = [];
    let written = 0;
    let read = 0;
    const { news } = await store.advance((runs, results) => {
      const answer = advanceRuns(runs, results, {
        newId: () => env.newId(),
        claimTimeoutMs: 1_000,
        most: MOST,
      });
      if ("read" in answer) asked.push(answer.read);
      else {
        const texts = [...results.units.values(), ...results.bodies.values()];
        const items = [...results.items.values()].flat().map(({ body }) => body);
        read = [...texts, ...items].reduce((sum, text) => sum + (text?.length ?? 0), 0);
        const inputs = answer.moves.flatMap(({ enqueue }) => enqueue.map(({ input }) => input.length));
        written = inputs.reduce((sum, length) => sum + length, 0);
      }
      return answer;
    }, MOST);
    load.read = Math.max(load.read, read);
    load.written = Math.max(load.written, written);
    if (news === 0) return load;
    load.looks += 1;
    expect(load.looks, "looks at the same run").toBeLessThan(200);
  }
}

const errorOf = async (store: Store, id: string): Promise<{ code: string; message: string }> =>
  JSON.parse((await store.run(id))?.run.body ?? "{}");

const text = (length: number): string => "x".repeat(length);

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  const shared = sharedOn(place);

  /** Runs until nothing waits. Each unit succeeds with its input. */
  async function played(definition: AppDefinition, input: unknown) {
    const store = await shared();
    const id = await begun(store, definition, input);
    const hands = await Hands.open(store);
    const total: Load = { read: 0, written: 0, looks: 0 };
    for (;;) {
      const { read, written, looks } = await settled(store);
      total.read = Math.max(total.read, read);
      total.written = Math.max(total.written, written);
      total.looks += looks;
      await hands.take();
      if (hands.held.length === 0) return { store, id, ...total, state: (await store.run(id))?.run.state };
      await hands.swap([...hands.held]);
    }
  }

  const fat = (size: number, count: number): AppDefinition => ({
    tasks: [work],
    workflows: [
      workflow({
        id: "fat",
        steps: (s) => {
          const items = Array.from({ length: count }, () => text(size));
          const each = s.each("fatten", items, work);
          s.step("sum", work, { rows: each.output });
        },
      }),
    ],
  });

  test("the results of a list: the run fails, and says which step and how much", async () => {
    const { store, id, state, read } = await played(fat(1_000, 38), null);
    expect(state).toBe("succeeded");
    expect(read).toBeGreaterThan(38_000);
    const { store: same, id: other, state: end, read: much } = await played(fat(1_000, 39), null);
    expect(end).toBe("failed");
    expect(much).toBe(0);
    const error = await errorOf(same, other);
    expect(error.code).toBe("DATA_TOO_LARGE");
    expect(error.message).toMatch(
      /^Step "fatten" needs 40 kB of data at once: the results of the items of step "fatten" \(40 kB\)\. The limit is 40 kB\./,
    );
    expect((await store.run(id))?.run.state).toBe("succeeded");
  });

  test("an input that repeats an output: the run fails before the input is built", async () => {
    const repeats = workflow({
      id: "repeats",
      steps: (s) => {
        const one = s.step("one", work, text(15_000));
        s.step("thrice", work, [one.output, one.output, one.output]);
      },
    });
    const { store, id, state, written } = await played({ tasks: [work], workflows: [repeats] }, null);
    expect(state).toBe("failed");
    expect(written).toBeLessThan(MOST);
    expect(await errorOf(store, id)).toMatchObject({
      code: "DATA_TOO_LARGE",
      message: expect.stringMatching(/^The input of step "thrice" needs/),
    });
  });

  test("the input of the run itself: it fails unread", async () => {
    const plain = workflow({
      id: "plain",
      steps: (s, input: unknown) => s.step("one", work, input as never),
    });
    const { store, id, state } = await played({ tasks: [work], workflows: [plain] }, text(MOST));
    expect(state).toBe("failed");
    expect(await errorOf(store, id)).toMatchObject({
      code: "DATA_TOO_LARGE",
      message: expect.stringMatching(/^The run needs/),
    });
  });

  test("steps that need much, but not too much each: they begin in several looks", async () => {
    const names = ["a", "b", "c", "d"];
    const wide = workflow({
      id: "wide",
      steps: (s, input: unknown) => {
        for (const name of names) {
          const first = s.step(name, work, input as never);
          s.step(`${name}-next`, work, { of: first.output });
        }
      },
    });
    const { state, read } = await played({ tasks: [work], workflows: [wide] }, text(25_000));
    expect(state).toBe("succeeded");
    expect(read).toBeGreaterThan(25_000);
    expect(read).toBeLessThanOrEqual(MOST);
  });

  test("a list whose items share a large input: it is put in line in several looks", async () => {
    const sharing = workflow({
      id: "sharing",
      steps: (s) => {
        const one = s.step("one", work, text(9_000));
        s.each(
          "all",
          Array.from({ length: 10 }, (_, n) => n),
          work,
          {
            input: (item: unknown) => ({ item, one: one.output }),
          } as never,
        );
      },
    });
    const { written, store, id } = await played({ tasks: [work], workflows: [sharing] }, null);
    expect(written).toBeGreaterThan(9_000);
    expect(written).toBeLessThan(2 * MOST);
    expect((await store.run(id))?.steps.find(({ name }) => name === "all")?.items?.succeeded).toBe(10);
  });

  test("several runs at once: each is looked at, though not all in one look", async () => {
    const store = await shared();
    const plain = workflow({
      id: "plain",
      steps: (s, input: unknown) => s.step("one", work, input as never),
    });
    const ids = [];
    for (let n = 0; n < 4; n += 1)
      ids.push(await begun(store, { tasks: [work], workflows: [plain] }, text(25_000)));
    const { looks, written } = await settled(store);
    expect(looks).toBeGreaterThanOrEqual(4);
    expect(written).toBeLessThanOrEqual(MOST);
    for (const id of ids) expect((await store.run(id))?.run.state).toBe("started");
  });
});
