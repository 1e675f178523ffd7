/** `sluice signal EVENT JSON`: sends what steps wait for. */
import type { Command } from "commander";
import { connect } from "../../api/connect.ts";
import { eventOfApp } from "../../api/event-of-app.ts";
import type { App } from "../../core/app/app.ts";
import type { AnyEvent } from "../../core/workflow/event.ts";
import type { SignalOptions } from "../../core/workflow/signal-options.ts";
import { readInput } from "./input.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

interface Options extends GlobalOptions {
  readonly app?: string;
  readonly unchecked?: boolean;
  readonly keep?: string;
  readonly key?: string;
}

export function addSignal(program: Command): void {
  program
    .command("signal")
    .description("send a signal of an event: every step that waits for it and matches goes on")
    .argument("<event>", "the event's id")
    .argument("[payload]", "its payload as JSON; @file reads a file, - reads stdin")
    .option("--app <file>", "the app file: its workflows say which events there are, and check the payload")
    .option("--unchecked", "without an app: neither the event nor the payload is checked")
    .option("--keep <duration>", 'how long steps may still find it, like "7d"; 1d by default')
    .option("--key <text>", "a second signal of the event with the same key changes nothing")
    .action((event: string, payload: string | undefined, _, command: Command) =>
      send(event, payload, command.optsWithGlobals()),
    );
}

async function send(event: string, given: string | undefined, options: Options): Promise<void> {
  const app = await appOf(options);
  const known = app ? eventOfApp(app, event) : { id: event };
  const payload = given === undefined ? refuseNone(known) : await readInput(given);
  await using sluice = await connect({ store: storeUrl(options), ...(app ? { app } : {}) });
  const sent = await sluice.signal(known, payload, settingsOf(options));
  print(options, sent, () => {
    if (!sent.created) return `signal ${sent.id} of ${event} was already sent with this key.`;
    const woken = sent.woken === 0 ? "No step waits for it now" : `${count(sent.woken, "step")} went on`;
    return `signal ${sent.id} of ${event} is sent. ${woken}.`;
  });
}

/** A step would take the payload as it is, so a signal is checked, or its sender says that it is not. */
async function appOf({ app: file, unchecked = false }: Options): Promise<App | undefined> {
  if ((file === undefined) !== unchecked)
    throw new UsageError(
      file === undefined
        ? "name the app that waits for the event with --app, or send it as it is with --unchecked"
        : "give either --app or --unchecked, not both",
    );
  return file === undefined ? undefined : (await loadApp(file)).app;
}

/** Only a schema can say that an event has no payload. */
function refuseNone({ id, payload }: AnyEvent): undefined {
  if (!payload) throw new UsageError(`the payload of event ${id} is missing; write null if it has none`);
}

const settingsOf = ({ keep, key }: Options): SignalOptions => ({
  ...(keep === undefined ? {} : { keep }),
  ...(key === undefined ? {} : { key }),
});
