/** What `dev` and `worker` say when they start: where the state is, which limits hold, and what to try next. */
import type { LimitView } from "../../api/limits.ts";
import type { App } from "../../core/app/app.ts";
import { formatDuration } from "../../core/time.ts";
import type { WorkerOptions } from "./run-worker.ts";
import { sayLimit } from "./say.ts";
import { sayPath, sayStore, storeUrl, toPaste } from "./settings.ts";
import { fields } from "./table.ts";
import { colours, padTo, safe, widthOf } from "./text.ts";

export interface Start {
  readonly mode: string;
  readonly file: string;
  readonly app: App;
  readonly limits: readonly LimitView[];
  readonly options: WorkerOptions;
}

export function banner({ mode, file, app, limits, options }: Start): string {
  const { queues, pools, tasks } = app;
  const changed = limits.filter(({ source, paused }) => source === "operator" || source === "sql" || paused);
  const facts = fields([
    ["State", sayStore(storeUrl(options))],
    ["Tasks", [...tasks.keys()].join(", ")],
    [
      "Queues",
      queues
        .map(({ name, rank, maxConcurrency }) => `${name} (rank ${rank}, max ${maxConcurrency ?? "∞"})`)
        .join(", "),
    ],
    pools.length === 0
      ? undefined
      : [
          "Pools",
          pools
            .map(({ name, limit, perValue }) => `${name} (${limit}${perValue ? " per value" : ""})`)
            .join(", "),
        ],
    ["Concurrency", concurrencyLine(app, options)],
    changed.length === 0
      ? undefined
      : ["Changed", { text: changed.map(sayChange).join(", "), style: colours.yellow }],
  ]);
  const head = `${colours.bold(`sluice ${mode}`)} ${safe(sayPath(file))}\n${indented(facts)}`;
  return mode === "dev" ? `${head}\n${tryNext(options)}\n` : head;
}

/** Everything that bounds this worker, in one line for logs. */
function concurrencyLine(
  { clusterCap, prefetch, claimLeaseMs, session }: App,
  { slots, queues }: WorkerOptions,
): string {
  const served = queues ? `, serves=${queues.join("+")}` : "";
  const mode = prefetch > 0 ? "soft cap" : "hard cap";
  return `slots=${slots}, cluster_cap=${clusterCap ?? "none"}, prefetch=${prefetch} (${mode}), claim_lease=${formatDuration(claimLeaseMs)}, session_lease=${formatDuration(session.leaseMs)}${served}`;
}

function sayChange(view: LimitView): string {
  const paused = view.paused ? " paused" : "";
  const was = view.limit === view.declared ? "" : ` (app: ${sayLimit(view.declared)})`;
  return `${view.key}=${sayLimit(view.limit)}${paused}${was}`;
}

function tryNext(options: WorkerOptions): string {
  const commands = [
    ["sluice queues list", "what waits and what runs"],
    ["sluice tasks list --state waiting", "who is in line"],
    ["sluice why ID", "why one of them waits, and what would change it"],
    ["sluice limits list", "every limit and how much of it is held"],
    ["sluice limits set KEY N", "change one while it all runs; 0 pauses"],
  ] as const;
  const pasted = commands.map(([command, what]) => [toPaste(options, command), what] as const);
  const width = Math.max(...pasted.map(([command]) => widthOf(command)));
  const lines = pasted.map(
    ([command, what]) => `${colours.cyan(padTo(command, width))}  ${what}
`,
  );
  return `In another terminal:
${indented(lines.join(""))}Ctrl-C to stop.
`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
