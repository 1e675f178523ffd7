// A list whose items tell the witness when they enter and leave, for worker processes and for the tests that
// submit it.

import { setTimeout as sleep } from "node:timers/promises";
import type { AppDefinition, Reference, TaskContext } from "../../../src/index.ts";
import { task, workflow } from "../../../src/index.ts";
import type { Visitor } from "../../support/witness.ts";

export interface Listing {
  /** The name under which the witness counts its window, like a pool. */
  readonly name: string;
  readonly items: number[];
  readonly most: number;
  /** Each item stays until the witness lets it go. */
  readonly hold: boolean;
  /** Each item takes at least this long and at most twice as long. */
  readonly ms: number;
}

interface Item extends Omit<Listing, "items" | "most"> {
  readonly index: number;
}

/** The witness's name for an item. */
export const itemId = (name: string, index: number): string => `${name}/${index}`;
export const afterId = (name: string): string => `${name}/after`;

/** The result of an item is the fence of the accepted attempt. */
export function listApp(visitor: Visitor | undefined): AppDefinition {
  const line = (): Visitor => {
    if (!visitor) throw new Error("this process only submits");
    return visitor;
  };
  const item = task({
    id: "item",
    retry: { attempts: 1_000, delay: "0ms" },
    run: async ({ name, index, hold, ms }: Item, { fence }: TaskContext) => {
      const id = itemId(name, index);
      await line().visit({ id, queue: "items", pools: { [name]: 1 }, epoch: fence }, async () => {
        if (hold) await line().hold(id);
        if (ms > 0) await sleep(ms * (1 + Math.random()));
      });
      return fence;
    },
  });
  const after = task({
    id: "after",
    retry: { attempts: 1_000, delay: "0ms" },
    run: async ({ name, fences }: { name: string; fences: number[] }, { fence }: TaskContext) => {
      await line().visit({ id: afterId(name), queue: "after", pools: {}, epoch: fence }, async () => {});
      return fences.length;
    },
  });
  const list = workflow({
    id: "list",
    steps: (s, { name, items, most, hold, ms }: Reference<Listing>) => {
      const all = s.each("items", items, item, {
        concurrency: most,
        input: (_, index) => ({ name, index, hold, ms }),
      });
      return s.step("after", after, { name, fences: all.output });
    },
  });
  return { tasks: [item, after], workflows: [list] };
}

/** The same, with leases that a dead worker does not keep for long. */
export const lossyListApp = (visitor: Visitor | undefined): AppDefinition => ({
  ...listApp(visitor),
  session: { lease: "2s", heartbeat: "400ms" },
});
