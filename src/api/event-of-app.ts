/** Finds events in the app that a program was connected with: those that steps of its workflows wait for. */
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { checkText, shortly } from "../core/text.ts";
import type { AnyEvent } from "../core/workflow/event.ts";
import { waitsIn } from "../core/workflow/steps.ts";

/** An event that no workflow of the app waits for is refused: nothing would ever hear of its signal. */
export function eventOfApp(app: App, id: string): AnyEvent {
  checkText("The ID of an event", id);
  const events = eventsOf(app);
  const known = events.get(id);
  if (known) return known;
  const names = [...events.keys()];
  const list =
    names.length === 0 ? "Its workflows wait for no event." : `They wait for: ${names.join(", ")}.`;
  throw new SluiceError(
    "UNKNOWN_EVENT",
    `no workflow of this app waits for event ${shortly(id)}.${didYouMean(id, names)} ${list}`,
  );
}

/**
 * The event of a signal. If it is only named, its schema is that of the app's workflows, and it must be one of their events,
 * unless they wait for none. An event of another app can be passed as an object.
 */
export function eventToSend(app: App | undefined, given: AnyEvent | string): AnyEvent {
  const id: unknown = typeof given === "string" ? given : (given as AnyEvent | undefined)?.id;
  checkText("The ID of an event", id);
  const events = app ? eventsOf(app) : new Map<string, AnyEvent>();
  if (typeof given !== "string") return given.payload ? given : (events.get(id) ?? given);
  return app && events.size > 0 ? eventOfApp(app, id) : { id };
}

/** An event that one workflow only names may have a schema in another. */
function eventsOf(app: App): Map<string, AnyEvent> {
  const events = new Map<string, AnyEvent>();
  for (const { plan } of app.workflows.values())
    for (const { wait } of waitsIn(plan))
      if (wait.for === "event") {
        const event = wait.event as AnyEvent | string;
        if (typeof event !== "string") events.set(event.id, event);
        else if (!events.has(event)) events.set(event, { id: event });
      }
  return events;
}
