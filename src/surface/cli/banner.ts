/** The banner of `dev` and `worker`: where the state is, which limits apply, and what to try next. */
import type { Deployed } from "../../api/deploy.ts";
import type { LimitView } from "../../api/limits.ts";
import type { App } from "../../core/app/app.ts";
import { sayAlso } from "../../core/app/shared-names.ts";
import { tagLimitKey } from "../../core/app/tags.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { UNLIMITED } from "../../core/gate/gate.ts";
import { ANY, kindOf, poolKey, queueKey, runsKey } from "../../core/gate/key.ts";
import { formatDuration } from "../../core/time.ts";
import { triggersOf } from "./check.ts";
import { ago, sayLimit } from "./say.ts";
import { whenOf } from "./schedules.ts";
import type { ServeOptions } from "./serve-options.ts";
import type { GlobalOptions } from "./settings.ts";
import { sayPath, sayStore, storeUrl, toPaste } from "./settings.ts";
import { quoted } from "./shell.ts";
import { fields } from "./table.ts";
import { colours, padTo, safe, widthOf } from "./text.ts";

/** Printed once when a worker starts whose limits were replaced by a later deploy of its app. */
export function laterDeploy({ app, at }: Deployed, { file, options, now }: LaterDeploy): string {
  return `A later deploy of app "${app}" (${ago(at, now)}) is in force, so the limits in ${sayPath(file)} are not applied. To apply them: ${toPaste(options, `deploy ${quoted(sayPath(file))}`)}\n`;
}

/** Printed once when a worker starts whose tasks or workflows another app declares, too. */
export const sharedNames = ({ shared }: Deployed): string =>
  shared.map((each) => `${safe(sayAlso(each))}\n`).join("");

interface LaterDeploy {
  readonly file: string;
  readonly options: GlobalOptions;
  readonly now: number;
}

interface Start {
  readonly mode: string;
  readonly file: string;
  readonly app: App;
  readonly limits: readonly LimitView[];
  /** The ranks in force. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly options: ServeOptions;
  readonly slots: number;
}

export function banner(start: Start): string {
  const { mode, file, app, limits, ranks, options } = start;
  const { queues, pools, tasks, workflows, runs } = app;
  const inForce = (key: string, declared: Limit): string => sayInForce(limits, key, declared);
  const triggers = triggersOf(app);
  const changed = limits.filter(isChanged);
  const facts = fields([
    ["State", sayStore(storeUrl(options))],
    ["Tasks", [...tasks.keys()].join(", ")],
    workflows.size === 0 ? undefined : ["Workflows", [...workflows.keys()].join(", ")],
    [
      "Queues",
      queues
        .map(
          ({ name, rank, ranked, maxConcurrency }) =>
            `${name} (rank ${sayRank(rank, ranks.get(name), ranked)}, max ${inForce(queueKey(name), maxConcurrency)})`,
        )
        .join(", "),
    ],
    pools.length === 0
      ? undefined
      : [
          "Pools",
          pools
            .map(({ name, limit, perValue }) =>
              perValue
                ? `${name} (${inForce(poolKey(`${name}=${ANY}`), limit)} per value)`
                : `${name} (${inForce(poolKey(name), limit)})`,
            )
            .join(", "),
        ],
    workflows.size === 0
      ? undefined
      : [
          "Runs",
          [
            `max ${sayInForce(limits, runsKey, runs.max, runs.declared)}`,
            ...runs.tags.map(
              (tag) =>
                `${tagLimitKey(tag).slice("tag:".length)} ${inForce(tagLimitKey(tag), tag.limit)}${tag.perValue ? " per value" : ""}`,
            ),
          ].join(", "),
        ],
    triggers.length === 0
      ? undefined
      : ["Starts", triggers.map(({ name, kind, spec }) => `${name} (${whenOf({ kind, spec })})`).join(", ")],
    changed.length === 0
      ? undefined
      : ["Changed", { text: changed.map(sayChange).join(", "), style: colours.yellow }],
  ]);
  const head = `${colours.bold(`sluice ${mode}`)} ${safe(sayPath(file))}\n${indented(facts)}${concurrencyLine(start)}\n`;
  return mode === "dev" ? `${head}\n${tryNext(start)}\n` : head;
}

/** All limits of this worker, in one line for logs. The fields that scripts may look for come first. */
function concurrencyLine({ app, limits, options, slots }: Start): string {
  const { prefetch, claimLeaseMs, session } = app;
  const { processes = 1, concurrency = slots, maxClaimPerWorker = 0, maxClaimBatch, queues } = options;
  const cluster = limits.find(({ key }) => key === "cluster")?.limit ?? null;
  const fields = {
    processes,
    cluster_wide_cap: cluster === null || cluster < 0 ? "none" : cluster,
    max_claim_per_worker: maxClaimPerWorker || slots + prefetch,
    max_claim_batch: maxClaimBatch ?? "none",
    concurrency,
    prefetch: `${prefetch} (${prefetch > 0 ? "soft cap" : "hard cap"})`,
    claim_lease: formatDuration(claimLeaseMs),
    session_lease: formatDuration(session.leaseMs),
    ...(queues ? { serves: queues.join("+") } : {}),
  };
  const said = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  return `Concurrency config: ${said.join(", ")}`;
}

/** The limit in force, and the limit of this file if that differs and no operator or SQL changed it. */
function sayInForce(
  limits: readonly LimitView[],
  key: string,
  declared: Limit,
  isSaid = declared !== null,
): string {
  const view = limits.find((each) => each.key === key);
  if (!view) return sayLimit(declared ?? UNLIMITED);
  const isOther = isSaid && view.limit !== declared && view.source !== "operator" && view.source !== "sql";
  return `${sayLimit(view.limit)}${isOther ? `, not ${sayLimit(declared)}` : ""}`;
}

/** The rank in force, and the rank of this file if it gives one that does not apply. */
const sayRank = (own: number, inForce: number | undefined, isSaid: boolean): string =>
  inForce === undefined || inForce === own ? String(own) : `${inForce}${isSaid ? `, not ${own}` : ""}`;

/** A run's own gates come and go with it, so they are left out. */
const isChanged = ({ key, source, paused }: LimitView): boolean =>
  kindOf(key) !== "run" && (source === "operator" || source === "sql" || paused);

function sayChange(view: LimitView): string {
  const paused = view.paused ? " paused" : "";
  const was = view.limit === view.declared ? "" : ` (app: ${sayLimit(view.declared)})`;
  return `${view.key}=${sayLimit(view.limit)}${paused}${was}`;
}

function tryNext({ file, app, options }: Start): string {
  const all = [...app.workflows.values()];
  // Prefers a workflow that can be submitted without an input.
  const shown = all.find(({ input }) => input === undefined) ?? all[0];
  const workflow = shown?.input === undefined ? shown?.id : `${shown.id} '{…}'`;
  const commands: readonly (readonly [command: string, what: string])[] = [
    ...(workflow === undefined
      ? []
      : ([
          [`submit ${quoted(sayPath(file))} ${workflow} --watch`, "start a run and watch it live"],
          ["queue list", "which runs are queued, and why"],
        ] as const)),
    ["queues list", "what is waiting and what is running"],
    ["tasks list --state waiting", "which tasks are in line"],
    ["why ID", "why one of them is waiting, and what would change it"],
    ["limits list", "every limit and how much of it is held"],
    ["limits set KEY N", "change a limit live; 0 pauses"],
  ];
  const pasted = commands.map(([command, what]) => [toPaste(options, command), what] as const);
  const width = Math.max(...pasted.map(([command]) => widthOf(command)));
  const lines = pasted.map(
    ([command, what]) => `${colours.cyan(padTo(command, width))}  ${what}
`,
  );
  return `In another terminal:
${indented(lines.join(""))}Press Ctrl-C to stop.
`;
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? line : `  ${line}`))
    .join("\n");
}
