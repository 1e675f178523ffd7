/**
 * The workflows under test: parallel steps, a list with a window, pools and mutexes, a workflow that holds a
 * mutex as a whole, and triggers. Every step is a task like the others, so the witness sees it.
 */
import type { Reference } from "sluice";
import { parallel, schedule, sensor, workflow } from "sluice";
import type { part as aPart, Errand } from "./app.ts";
import { WINDOW } from "./limits.ts";

export interface RunInput {
  readonly errand: Errand;
  readonly items: readonly Errand[];
}

interface Parts {
  /** Asks for nothing but its queue. */
  readonly part: typeof aPart;
  /** Asks for one slot of the database. */
  readonly share: typeof aPart;
}

const QUICK: Errand = { ms: 20 };

export function flowsOf({ part, share }: Parts) {
  const diamond = workflow({
    id: "diamond",
    executor: parallel({ maxAsyncConcurrent: 3 }),
    steps: (s, input: Reference<RunInput>) => {
      const first = s.step("first", part, input.errand);
      const left = s.step("left", share, input.errand, { after: [first] });
      const right = s.step("right", part, input.errand, { after: [first] });
      const list = s.each("list", input.items, share, { concurrency: WINDOW, after: [left, right] });
      s.step("last", part, input.errand, { after: [list], mutexes: ["stamp"] });
    },
  });
  const solo = workflow({
    id: "solo",
    mutexes: ["solo"],
    steps: (s, input: Reference<RunInput>) => {
      const one = s.step("one", part, input.errand);
      s.step("two", part, input.errand, { after: [one] });
    },
  });
  const beat = workflow({ id: "beat", steps: (s) => s.step("beat", part, QUICK) });
  return {
    workflows: [diamond, solo, beat],
    schedules: [schedule({ id: "tick", workflow: beat, cron: "*/5 * * * * *", catchUp: "all" })],
    sensors: [
      sensor({
        id: "count",
        workflow: beat,
        every: "2s",
        timeout: "2s",
        // The cursor alone determines the count, so a missing or duplicate run is a fault of the product.
        run: async ({ cursor = 0 }: { readonly cursor?: number }) => ({
          cursor: cursor + 1,
          submit: [{ key: String(cursor + 1), input: undefined }],
        }),
      }),
    ],
  };
}
