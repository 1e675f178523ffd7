/** `sluice deploy app.ts`: makes the limits, ranks and triggers of an app the ones in force, without starting a worker. */
import type { Command } from "commander";
import { connect } from "../../api/sluice.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl } from "./settings.ts";

export function addDeploy(program: Command): void {
  program
    .command("deploy")
    .description(
      "declare an app's limits, queue ranks and schedules in the store; what an operator set stays",
    )
    .argument("<app>", "the app file, TypeScript or JavaScript")
    .action((file: string, _, command: Command) => deploy(file, command.optsWithGlobals()));
}

async function deploy(file: string, options: GlobalOptions): Promise<void> {
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const { app: name } = await sluice.deploy({ file });
  const limits = (await sluice.limits.list()).filter(({ said }) =>
    said.some((each) => each.app === name && each.limit !== null),
  );
  const overruled = limits.filter(
    ({ said, limit }) => said.find((each) => each.app === name)?.limit !== limit,
  );
  print(options, { app: name, limits, overruled: overruled.map(({ key }) => key) }, () => {
    const but = overruled.map(({ key }) => key).join(", ");
    return `App "${name}" is deployed: ${count(limits.length, "limit")}.${but && ` Another value is in force at ${but}. See: sluice limits list`}`;
  });
}
