/** `sluice signal EVENT JSON`: sends what steps wait for. */
import type { Command } from "commander";
import { connect } from "../../api/sluice.ts";
import type { SignalOptions } from "../../core/workflow/signal-options.ts";
import { readInput } from "./input.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl } from "./settings.ts";

interface Options extends GlobalOptions {
  readonly app?: string;
  readonly keep?: string;
  readonly key?: string;
}

export function addSignal(program: Command): void {
  program
    .command("signal")
    .description("send a signal of an event: every step that waits for it and matches goes on")
    .argument("<event>", "the event's id")
    .argument("[payload]", "its payload as JSON; @file reads a file, - reads stdin", "null")
    .option("--app <file>", "the app file: the payload is checked by the schema of the event there")
    .option("--keep <duration>", 'how long steps may still find it, like "7d"; 1d by default')
    .option("--key <text>", "a second signal of the event with the same key changes nothing")
    .action((event: string, payload: string, _, command: Command) =>
      send(event, payload, command.optsWithGlobals()),
    );
}

async function send(event: string, given: string, options: Options): Promise<void> {
  const payload = await readInput(given);
  const { app } = options.app === undefined ? {} : await loadApp(options.app);
  await using sluice = await connect({ store: storeUrl(options), ...(app ? { app } : {}) });
  const sent = await sluice.signal(event, payload, settingsOf(options));
  print(options, sent, () => {
    if (!sent.created) return `signal ${sent.id} of ${event} was already sent with this key.`;
    const woken = sent.woken === 0 ? "No step waits for it now" : `${count(sent.woken, "step")} went on`;
    return `signal ${sent.id} of ${event} is sent. ${woken}.`;
  });
}

const settingsOf = ({ keep, key }: Options): SignalOptions => ({
  ...(keep === undefined ? {} : { keep }),
  ...(key === undefined ? {} : { key }),
});
