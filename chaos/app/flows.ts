/**
 * The workflows under test: parallel steps, a list with a window, pools and mutexes, a workflow that holds a
 * mutex as a whole, and triggers. Every step is a task like the others, so the witness sees it.
 */
import type { Reference } from "sluice";
import { parallel, schedule, sensor, workflow } from "sluice";
import type { part as aPart, Errand } from "./app.ts";
import { WINDOW } from "./limits.ts";
import { SIGHT, TICK } from "./marks.ts";

/** Each step has an errand of its own, so that the witness can tell steps apart. */
export interface DiamondInput {
  readonly first: Errand;
  readonly left: Errand;
  readonly right: Errand;
  readonly last: Errand;
  readonly list: readonly Errand[];
}

export interface SoloInput {
  readonly one: Errand;
  readonly two: Errand;
}

interface Parts {
  /** Asks for nothing but its queue. */
  readonly part: typeof aPart;
  /** Asks for one slot of the database. */
  readonly share: typeof aPart;
}

const QUICK_MS = 20;

export function flowsOf({ part, share }: Parts) {
  const diamond = workflow({
    id: "diamond",
    executor: parallel({ maxAsyncConcurrent: 3 }),
    steps: (s, input: Reference<DiamondInput>) => {
      const first = s.step("first", part, input.first);
      const left = s.step("left", share, input.left, { after: [first] });
      const right = s.step("right", part, input.right, { after: [first] });
      const list = s.each("list", input.list, share, { concurrency: WINDOW, after: [left, right] });
      s.step("last", part, input.last, { after: [list], mutexes: ["stamp"] });
    },
  });
  const solo = workflow({
    id: "solo",
    mutexes: ["solo"],
    steps: (s, input: Reference<SoloInput>) => {
      const one = s.step("one", part, input.one);
      s.step("two", part, input.two, { after: [one] });
    },
  });
  const beat = workflow({
    id: "beat",
    steps: (s, input: Reference<Errand>) => s.step("beat", part, input),
  });
  const errand = (mark: string): Errand => ({ ms: QUICK_MS, mark });
  return {
    workflows: [diamond, solo, beat],
    schedules: [
      schedule({
        id: "tick",
        workflow: beat,
        cron: "*/5 * * * * *",
        catchUp: "all",
        input: ({ at }: { readonly at: number }) => errand(`${TICK}${new Date(at).toISOString()}`),
      }),
    ],
    sensors: [
      sensor({
        id: "count",
        workflow: beat,
        every: "2s",
        timeout: "2s",
        // The cursor alone determines the count, so a missing or duplicate run is a fault of the product.
        run: async ({ cursor = 0 }: { readonly cursor?: number }) => ({
          cursor: cursor + 1,
          submit: [{ key: String(cursor + 1), input: errand(`${SIGHT}${cursor + 1}`) }],
        }),
      }),
    ],
  };
}
