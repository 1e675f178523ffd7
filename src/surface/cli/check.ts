/** `sluice check app.ts` shows an app with its defaults filled in, or all of its problems. */
import type { Command } from "commander";
import type { App } from "../../core/app/app.ts";
import { tagLimitKey } from "../../core/app/tags.ts";
import type { ConfigError } from "../../core/error.ts";
import type { AnyTask } from "../../core/task/definition.ts";
import { retryPolicy } from "../../core/task/retry.ts";
import { formatDuration } from "../../core/time.ts";
import type { AnyWorkflow } from "../../core/workflow/definition.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { count, sayTags } from "./say.ts";
import { whenOf } from "./schedules.ts";
import type { GlobalOptions } from "./settings.ts";
import { table } from "./table.ts";

export function addCheck(program: Command): void {
  program
    .command("check")
    .description("check an app file and print its settings, without running anything")
    .argument("<app>", "the app file, TypeScript or JavaScript")
    .action((file: string, _, command: Command) => check(file, command.optsWithGlobals()));
}

async function check(file: string, options: GlobalOptions): Promise<void> {
  try {
    const { app } = await loadApp(file);
    print(options, resolved(app), () => summary(file, app));
  } catch (error) {
    const { problems } = error as Partial<ConfigError>;
    if (options.json && problems) print(options, { problems }, () => "");
    throw error;
  }
}

function resolved({ tasks, workflows, ...app }: App): object {
  return {
    ...app,
    tasks: [...tasks.values()].map(taskData),
    workflows: [...workflows.values()].map(workflowData),
  };
}

function workflowData({ input, plan, ...workflow }: AnyWorkflow): object {
  const steps = plan.steps.map(({ name, needs, ...step }) =>
    step.kind === "wait" ? { name, waitsFor: step.wait.for, needs } : { name, task: step.task.id, needs },
  );
  return { ...workflow, input: input !== undefined, steps };
}

function taskData({ run: _run, input, pools, ...task }: AnyTask): object {
  return {
    ...task,
    input: input !== undefined,
    pools: typeof pools === "function" ? "by input" : (pools ?? {}),
  };
}

function summary(file: string, app: App): string {
  const { queues, pools, tasks, workflows } = app;
  const runs = workflows.size > 0 ? `, ${count(workflows.size, "workflow")}` : "";
  return [
    `${file} is valid: ${count(tasks.size, "task")}, ${count(queues.length, "queue")}, ${count(pools.length, "pool")}${runs}\n${concurrency(app)}\n`,
    table(
      ["queue", "rank", "max concurrency"],
      queues.map(({ name, rank, maxConcurrency }) => [name, String(rank), String(maxConcurrency ?? "∞")]),
    ),
    ...(pools.length > 0 ? [poolTable(app)] : []),
    table(["task", "queue", "pools", "attempts", "timeout"], [...tasks.values()].map(taskRow)),
    ...(workflows.size > 0 ? [workflowTable(app), runsTable(app)] : []),
    ...(triggersOf(app).length > 0 ? [triggerTable(app)] : []),
  ].join("\n");
}

/** The limits above the queues, in the words of a starting worker. */
function concurrency({ clusterCap, prefetch, claimLeaseMs }: App): string {
  const mode = prefetch > 0 ? "soft cap" : "hard cap";
  return `Concurrency: cluster cap ${clusterCap ?? "∞"}, prefetch ${prefetch} (${mode}), claim lease ${formatDuration(claimLeaseMs)}`;
}

function poolTable({ pools }: App): string {
  return table(
    ["pool", "limit", "lease"],
    pools.map(({ name, limit, leaseMs, perValue }) => [
      name,
      perValue ? `${limit} per value` : String(limit),
      formatDuration(leaseMs),
    ]),
  );
}

function workflowTable({ workflows }: App): string {
  const rows = [...workflows.values()].map(({ id, tags = {}, timeout = "-", plan }) => [
    id,
    sayTags(tags),
    timeout,
    plan.steps.map(({ name }) => name).join(", "),
  ]);
  return table(["workflow", "tags", "timeout", "steps"], rows);
}

function runsTable({ runs }: App): string {
  const tags = runs.tags.map((tag): [string, string] => [
    tagLimitKey(tag),
    tag.perValue ? `${tag.limit} per value` : String(tag.limit),
  ]);
  return table(
    ["runs", "limit"],
    [["runs in progress", `${runs.max}${runs.declared ? "" : " (default)"}`], ...tags],
  );
}

export const triggersOf = ({ schedules, sensors, automations }: App) => [
  ...schedules,
  ...sensors,
  ...automations,
];

function triggerTable(app: App): string {
  const rows = triggersOf(app).map(({ id, kind, workflow, spec, paused }) => [
    id,
    kind,
    workflow ?? ("task" in spec ? spec.task : undefined) ?? "-",
    whenOf({ kind, spec }),
    paused ? "starts paused" : "",
  ]);
  return table(["trigger", "kind", "starts", "when", ""], rows);
}

function taskRow({ id, queue = "default", pools, retry, timeout = "-" }: AnyTask): string[] {
  return [id, queue, sayPools(pools), String(retryPolicy(retry).attempts), timeout];
}

function sayPools(pools: AnyTask["pools"]): string {
  if (typeof pools === "function") return "by input";
  const asks = Object.entries(pools ?? {}).map(([name, slots]) => `${name} ${slots}`);
  return asks.join(", ") || "-";
}
