/** Turns a call of `signal` into what the store keeps. The payload is checked here, so a waiting step can trust it. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import { jsonText } from "../core/json.ts";
import { checkText } from "../core/text.ts";
import type { Duration } from "../core/time.ts";
import { parseDuration } from "../core/time.ts";
import type { AnyEvent } from "../core/workflow/event.ts";
import type { SignalOptions } from "../core/workflow/signal-options.ts";
import { parseWith } from "../executor/function/function-executor.ts";
import type { NewSignal } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import { eventToSend } from "./event-of-app.ts";

export const OF_SIGNAL: OptionNames<SignalOptions> = { keep: true, key: true };

/** How long a signal is kept for steps that begin to wait later. */
const DEFAULT_KEEP: Duration = "1d";

export async function newSignal(
  app: App | undefined,
  given: AnyEvent | string,
  payload: unknown,
  options: SignalOptions,
  id: string,
): Promise<NewSignal> {
  const event = eventToSend(app, given);
  const whose = `event "${event.id}"`;
  const { keep = DEFAULT_KEEP, key } = knownOptions(whose, options, OF_SIGNAL);
  if (key !== undefined) checkText(`${whose}: key`, key);
  const text = json(whose, payload);
  const value = payload === undefined ? undefined : JSON.parse(text);
  const parsed = event.payload ? await checked(event, whose, value) : text;
  return { id, event: event.id, payload: parsed, keepMs: parseDuration(keep), key: key ?? null };
}

/** The payload is checked as a step will read it, and what the schema makes of it is what the step gets. */
async function checked({ payload: schema }: AnyEvent, whose: string, value: unknown): Promise<string> {
  try {
    return json(whose, schema && (await parseWith(schema, value, whose)));
  } catch (cause) {
    if (!(cause instanceof SluiceError) || cause.code !== "BAD_INPUT") throw cause;
    const { issues = [] } = cause.details as { readonly issues?: readonly string[] };
    const message = `${whose}: the payload does not match its schema: ${issues.join("; ")}`;
    throw new SluiceError("BAD_SIGNAL", message, { details: { issues } });
  }
}

function json(whose: string, payload: unknown): string {
  try {
    return jsonText(payload, "payload") ?? "null";
  } catch (cause) {
    throw new SluiceError("BAD_SIGNAL", `${whose}: ${(cause as Error).message}.`, { cause });
  }
}
