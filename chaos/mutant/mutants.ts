// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of built code, not text of ours.
/**
 * Deliberate faults. Each replaces exact pieces of the built code and has a short schedule aimed at it. The
 * harness must catch every one. If a piece is not found exactly once, the code has changed and the fault must
 * be rewritten.
 */
import { LEASE_MS } from "../app/limits.ts";
import type { Mix } from "../app/mix.ts";
import type { StoreName } from "../place/place.ts";
import type { Fault, Plan } from "../plan.ts";

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly pieces: readonly { readonly find: string; readonly instead: string }[];
  /** The store on which it matters. */
  readonly store: StoreName;
  readonly mix: Mix;
  /** True if it shows where every limit is full. */
  readonly opens?: boolean;
  readonly plan: Plan;
}

const USAGE = "        usage: read(look.selectUsage()),\n";

/** Repeats the same fault, starting at the second second. */
function every(ms: number, times: number, make: (index: number) => Omit<Fault, "at">): Plan {
  const faults = Array.from(
    { length: times },
    (_, index) => ({ ...make(index), at: 2_000 + index * ms }) as Fault,
  );
  return { lastsMs: 3_000 + times * ms, faults };
}

/**
 * A worker that is frozen inside a pass and then continues reports again work that the store has meanwhile
 * given to others.
 */
const frozenInside = (times: number): Plan =>
  every(LEASE_MS + 3_500, times, (index) => ({
    lane: "pause",
    how: "inside a pass",
    ms: LEASE_MS + 1_000 + 400 * (index % 4),
  }));

/** A worker dies every moment, and only in some of these moments does it matter which one. */
const deaths = every(900, 26, () => ({ lane: "kill", whom: "worker" }));

/**
 * Records what a sensor saw in two transactions, with enough time between them to die in. The runs have keys of
 * that moment, because keys of the cursor would make up for it.
 */
function sensed(first: string, second: string): { find: string; instead: string } {
  return {
    find: "        return this.#fire({ name, stamp: taken }, decision ?? { state, nextAt, submit: [] });\n",
    instead: `        if (!decision)
            return this.#fire({ name, stamp: taken }, { state, nextAt, submit: [] });
        const anew = (run) => ({ ...run, key: \`\${run.key} \${taken}\` });
        await this.#fire({ name, stamp: taken }, ${first});
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return this.#fire({ name, stamp: taken + 1 }, ${second});
`,
  };
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "no epoch check in complete",
    file: "store/query/settle.js",
    pieces: [{ find: " AND r.epoch = (reports.by_unit -> r.id ->> 0)::bigint", instead: "" }],
    store: "postgres",
    mix: "steady",
    plan: frozenInside(5),
  },
  {
    name: "counting before locking",
    file: "store/query/pass-look.js",
    pieces: [
      { find: USAGE, instead: "" },
      { find: "        gates: look.inLockOrder(", instead: `${USAGE}        gates: look.inLockOrder(` },
    ],
    store: "postgres",
    mix: "quick",
    plan: every(10_000, 1, () => ({ lane: "cut", how: "all", whom: "worker" })),
  },
  {
    name: "release by key only",
    file: "store/query/settle.js",
    pieces: [
      {
        find: "sql `DELETE FROM sluice_running WHERE ${among(group)}`,",
        instead: "sql `DELETE FROM sluice_running WHERE id ${oneOf(group.map(({ id }) => id))}`,",
      },
    ],
    store: "mariadb",
    mix: "steady",
    plan: frozenInside(5),
  },
  {
    name: "reaping by the worker's clock",
    file: "store/query/look.js",
    pieces: [
      {
        find: "const LOST = sql `(s.id IS NULL OR s.expires_at <= ${leaseNow}",
        instead:
          "const LOST = sql `(s.id IS NULL OR s.expires_at <= ${new leaseNow.constructor((writer) => writer.value(Date.now()))}",
      },
    ],
    store: "postgres",
    mix: "steady",
    plan: every(8_000, 1, () => ({ lane: "cut", how: "all", whom: "worker" })),
  },
  {
    name: "renewal that stops at the first error",
    file: "engine/worker/session-keeper.js",
    pieces: [
      { find: "this.#plan((this.#lease.heartbeatMs / 4) * (0.5 + this.#env.random()));", instead: "" },
    ],
    store: "postgres",
    mix: "long",
    plan: every(700, 24, (index) => ({ lane: "cut", how: index % 2 ? "request" : "answer", whom: "worker" })),
  },
  {
    name: "news of ended steps handled twice",
    file: "store/query/advance.js",
    pieces: [
      {
        find: "    const locked = yield* lockAll(ids, most);\n    const { runs, over, cut, lanes } = yield* seeRuns(locked, news);\n",
        // The line is slow, so that two looks at one run meet: the steps are read before the run is locked.
        instead: `    const slowly = () => flight({ nap: sql \`SELECT 1 AS nap FROM pg_sleep(0.06)\`.as(({ nap }) => nap) });
    yield* slowly();
    const { runs, over, cut, lanes } = yield* seeRuns({ now: ids, later: [], unread: new Map() }, news);
    yield* slowly();
    const locked = yield* lockAll(ids, most);
`,
      },
    ],
    store: "postgres",
    mix: "runs",
    plan: every(8_000, 2, () => ({ lane: "cut", how: "all", whom: "worker" })),
  },
  {
    name: "lists that lose their last item",
    file: "core/run/fan-out.js",
    pieces: [
      {
        find: 'return listOf(name, "its items", render(items.list, values));',
        instead: 'return listOf(name, "its items", render(items.list, values)).slice(0, -1);',
      },
    ],
    store: "sqlite",
    mix: "runs",
    plan: every(6_000, 2, () => ({ lane: "kill", whom: "child" })),
  },
  {
    name: "steps that forget their pools",
    file: "core/workflow/resolve-step.js",
    pieces: [
      {
        find: 'asksFor({ pools }, "")',
        instead: 'asksFor({}, "")',
      },
    ],
    store: "mariadb",
    mix: "all",
    opens: true,
    plan: every(7_000, 3, () => ({ lane: "kill", whom: "child" })),
  },
  {
    name: "workflows that do not hold their mutex",
    file: "core/workflow/run-asks.js",
    pieces: [{ find: "...asksFor({ pools: workflow.pools, locks }, namespace),", instead: "" }],
    store: "sqlite",
    mix: "solos",
    plan: every(7_000, 2, () => ({ lane: "kill", whom: "child" })),
  },
  {
    name: "a sensor whose runs come before its cursor",
    file: "engine/triggers/triggers.js",
    pieces: [
      sensed("{ ...decision, state, submit: decision.submit.map(anew) }", "{ ...decision, submit: [] }"),
    ],
    store: "sqlite",
    mix: "quick",
    plan: deaths,
  },
  {
    name: "a sensor whose cursor comes before its runs",
    file: "engine/triggers/triggers.js",
    pieces: [sensed("{ ...decision, submit: [] }", "decision")],
    store: "sqlite",
    mix: "quick",
    plan: deaths,
  },
  {
    name: "a step that waits for one of its needs only",
    file: "core/run/progress.js",
    pieces: [{ find: "if (!step.needs.every(", instead: "if (step.needs.length > 0 && !step.needs.some(" }],
    store: "postgres",
    mix: "runs",
    plan: every(8_000, 2, () => ({ lane: "cut", how: "all", whom: "worker" })),
  },
  {
    name: "items that forget their window",
    file: "engine/runs/unit.js",
    pieces: [{ find: "...(window ? [window] : [])", instead: "" }],
    store: "sqlite",
    mix: "runs",
    plan: every(6_000, 2, () => ({ lane: "kill", whom: "child" })),
  },
  {
    name: "fire times that nobody makes up for",
    file: "engine/triggers/schedule.js",
    pieces: [{ find: "from: row.nextAt ?? now", instead: "from: now - 1" }],
    store: "sqlite",
    mix: "runs",
    // Not in step with the schedule, or every stop could miss it.
    plan: every(3_700, 5, () => ({ lane: "term", burst: 5 })),
  },
  {
    name: "a cancel that frees slots at once",
    file: "store/query/hand.js",
    pieces: [{ find: "unit.claim?.held === true", instead: "false" }],
    store: "sqlite",
    // Long code, so that it still runs when the command arrives.
    mix: "long",
    plan: every(900, 16, () => ({ lane: "cancel" })),
  },
];
