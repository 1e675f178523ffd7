/**
 * `sluice deploy app.ts` puts the limits, ranks and triggers of an app in force, without starting a worker.
 */
import type { Command } from "commander";
import { connect } from "../../api/connect.ts";
import { sayAlso } from "../../core/app/shared-names.ts";
import { changesOf, deployable, sayDeployed } from "./deploy-changes.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { count } from "./say.ts";
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
  const before = await deployable(sluice);
  const { app: name, shared } = await sluice.deploy({ file });
  const after = await deployable(sluice);
  const limits = after.limits.filter(({ said }) =>
    said.some((each) => each.app === name && each.limit !== null),
  );
  const overruled = limits.filter(
    ({ said, limit }) => said.find((each) => each.app === name)?.limit !== limit,
  );
  const changed = changesOf(before, after, name);
  const data = { app: name, limits, overruled: overruled.map(({ key }) => key), changed, shared };
  print(options, data, () => {
    const but = overruled.map(({ key }) => key).join(", ");
    const head = `App "${name}" is deployed: ${count(limits.length, "limit")}.${but && ` A different value is in force at ${but}. See: ${toPaste(options, "limits list")}`}`;
    return [head, ...changed.map(sayDeployed), ...shared.map((each) => `  ${safe(sayAlso(each))}`)].join(
      "\n",
    );
  });
}
