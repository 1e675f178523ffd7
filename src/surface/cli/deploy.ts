/**
 * `sluice deploy app.ts` puts the limits, ranks and triggers of an app in force, without starting a worker.
 */
import type { Command } from "commander";
import type { LimitView } from "../../api/limits.ts";
import { connect } from "../../api/sluice.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { count, sayLimit } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl, toPaste } from "./settings.ts";
import { safe } from "./text.ts";

export function addDeploy(program: Command): void {
  program
    .command("deploy")
    .description(
      "declare an app's limits, queue ranks and schedules in the store; limits that an operator set stay",
    )
    .argument("<app>", "the app file, TypeScript or JavaScript")
    .action((file: string, _, command: Command) => deploy(file, command.optsWithGlobals()));
}

async function deploy(file: string, options: GlobalOptions): Promise<void> {
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const before = new Map((await sluice.limits.list()).map((view) => [view.key, view]));
  const { app: name } = await sluice.deploy({ file });
  const all = await sluice.limits.list();
  const limits = all.filter(({ said }) => said.some((each) => each.app === name && each.limit !== null));
  const overruled = limits.filter(
    ({ said, limit }) => said.find((each) => each.app === name)?.limit !== limit,
  );
  const changed = all.flatMap((view) => changeOf(view, before.get(view.key), name));
  print(options, { app: name, limits, overruled: overruled.map(({ key }) => key), changed }, () => {
    const but = overruled.map(({ key }) => key).join(", ");
    const head = `App "${name}" is deployed: ${count(limits.length, "limit")}.${but && ` A different value is in force at ${but}. See: ${toPaste(options, "limits list")}`}`;
    return [head, ...changed.map(sayChange)].join("\n");
  });
}

interface Change {
  readonly key: string;
  readonly from: Limit;
  readonly to: Limit;
  /** Other apps whose own limit is less strict than the one that this deploy sets. */
  readonly tightens: readonly string[];
  /** True if this was the app's own limit, and the app no longer declares it. */
  readonly leftOut: boolean;
}

/** The change that the deploy made to a gate that existed before. */
function changeOf(view: LimitView, was: LimitView | undefined, app: string): Change[] {
  if (!was || was.limit === view.limit) return [];
  const own = view.said.find((each) => each.app === app)?.limit ?? null;
  const others = view.said.filter((each) => each.app !== app && each.limit !== null);
  const tightens = own === view.limit ? others.map((each) => each.app) : [];
  const leftOut = own === null && was.said.some((each) => each.app === app && each.limit !== null);
  return [{ key: view.key, from: was.limit, to: view.limit, tightens, leftOut }];
}

function sayChange({ key, from, to, tightens, leftOut }: Change): string {
  const whom = tightens.map((app) => `"${app}"`).join(", ");
  const why = whom
    ? `; this also binds app ${whom}: the stricter limit applies`
    : leftOut
      ? "; this app no longer declares it"
      : "";
  return `  ${safe(key)}: ${sayLimit(from)} → ${sayLimit(to)}${why}`;
}
