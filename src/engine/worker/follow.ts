/** The transitions of a worker: the tables of `state.ts` as one pure function. */
import { isStoreGone } from "../../core/error.ts";
import type { Happening, Order, Phase, PlainHappening, State } from "./state.ts";
import { isDraining, STOPPED_STATE } from "./state.ts";

interface Step {
  /** Unchanged if absent. */
  readonly state?: State;
  readonly orders: readonly Order[];
}

/** Most happenings change nothing, so their steps are created once. */
const NOTHING: Step = { orders: [] };
const SPEAK: Step = { orders: ["speak"] };

export function follow(state: State, happening: Happening): Step {
  if (typeof happening === "string") return followPlain(state, happening);
  switch (happening.kind) {
    case "stop":
      return stop(state, happening.graceMs);
    case "sessionOpened":
      return to({ ...state, session: happening.session });
    case "answered":
      return answered(state, happening.more && !isDraining(state), happening.yielded);
    case "unanswered":
    case "stillAway":
      return unanswered(state, happening);
  }
}

function followPlain(state: State, happening: PlainHappening): Step {
  switch (happening) {
    case "toSay":
      return SPEAK;
    case "hint":
      return state.hinted ? SPEAK : to({ ...state, hinted: true }, "speak");
    case "asked":
      return state.hinted || state.ownTurn ? to({ ...state, hinted: false, ownTurn: false }) : NOTHING;
    case "ownTurn":
      return to({ ...state, hinted: true, ownTurn: true }, "speak");
    case "reached":
      return state.failures > 0 ? to({ ...state, failures: 0 }) : NOTHING;
    case "recovered":
      return to({ ...state, hinted: true, isRecovering: false }, "speak");
    case "sessionRenewed":
      return { orders: ["reconcile"] };
    case "sessionLost":
      return lost(state);
    case "leased":
      return { orders: ["keepClaims"] };
    case "stepsEnded":
      return { orders: ["tellSteps"] };
    case "cancelHeard":
      return state.looksForCancelled
        ? NOTHING
        : to({ ...state, looksForCancelled: true }, "lookForCancelled");
    case "cancelDue":
      return to({ ...state, looksForCancelled: false }, "dropStale");
    default:
      return followLife(state, happening);
  }
}

type Unanswered = Extract<Happening, { readonly kind: "unanswered" | "stillAway" }>;

type LifeHappening = Extract<
  PlainHappening,
  "start" | "opened" | "notOpened" | "idle" | "graceOver" | "halted" | "allSaid" | "left"
>;

function followLife(state: State, happening: LifeHappening): Step {
  const { phase } = state;
  switch (happening) {
    case "start":
      return phase === "stopped" ? to({ ...STOPPED_STATE, phase: "opening" }, "open") : NOTHING;
    case "opened":
      return phase === "opening" ? opened(state) : NOTHING;
    case "idle":
    case "graceOver":
      return waited(state);
    case "halted":
      return phase === "halting" ? enter(state, "reporting") : NOTHING;
    case "allSaid":
      return phase === "closing" ? { orders: ["leave"] } : NOTHING;
    case "notOpened":
    case "left":
      return to(STOPPED_STATE);
  }
}

/** A stop may have been requested meanwhile. */
function opened(state: State): Step {
  if (state.graceMs === Number.POSITIVE_INFINITY) return enter(state, "working", "converse", "speak");
  const { state: draining, orders } = drain(state);
  return { ...(draining ? { state: draining } : {}), orders: ["converse", ...orders] };
}

/** Each request to stop has its own grace period. The shortest counts. */
function stop(state: State, graceMs: number): Step {
  const impatient = graceMs < state.graceMs ? { ...state, graceMs } : state;
  if (state.phase === "working") return drain({ ...state, graceMs });
  if (impatient === state || state.phase === "stopped") return NOTHING;
  return isWaiting(state.phase) ? enter(impatient, state.phase) : to(impatient);
}

const drain = (state: State): Step =>
  enter({ ...state, hinted: true }, "draining", "retire", "giveBack", "speak");

/** The time for this part of the stop is over, or was not needed. */
function waited(state: State): Step {
  switch (state.phase) {
    case "draining":
      return enter(state, "aborting", "abort");
    case "aborting":
      return enter(state, "halting", "halt");
    case "reporting":
      return enter(state, "closing", "speak");
    default:
      return NOTHING;
  }
}

function lost(state: State): Step {
  if (state.session === undefined) return NOTHING;
  return to({ ...state, session: undefined, hinted: true }, "forget", "speak");
}

function answered(state: State, more: boolean, yielded: boolean): Step {
  const orders: Order[] = more ? ["speak"] : [];
  if (yielded) orders.push("lookAgain");
  return state.more === more ? { orders } : { state: { ...state, more }, orders };
}

function unanswered(state: State, { kind, error }: Unanswered): Step {
  // Reports that an exchange could not deliver come back to be sent, and are dropped there.
  if (state.isGone) return SPEAK;
  if (isStoreGone(error)) {
    const next = { ...state, isGone: true, isRecovering: false, session: undefined };
    return to(next, { do: "giveUp", error }, "speak");
  }
  return kind === "unanswered" && state.isRecovering ? NOTHING : away(state, error);
}

function away(state: State, error: unknown): Step {
  const failures = state.failures + 1;
  return to({ ...state, isRecovering: true, failures }, { do: "recover", error, failures });
}

const to = (state: State, ...orders: Order[]): Step => ({ state, orders });

/** A phase that waits ends with the order to wait, and for how long. */
function enter(state: State, phase: Phase, ...orders: Order[]): Step {
  if (isWaiting(phase)) orders.push({ do: "wait", ms: waitMs(phase, state.graceMs) });
  return { state: { ...state, phase }, orders };
}

type Waiting = "draining" | "aborting" | "reporting";

const isWaiting = (phase: Phase): phase is Waiting =>
  phase === "draining" || phase === "aborting" || phase === "reporting";

/** The end of the grace period is reserved for aborted code and for reporting how it ended. */
function waitMs(phase: Waiting, graceMs: number): number {
  const last = Math.min(5_000, Math.max(100, graceMs * 0.3));
  return phase === "draining" ? graceMs - last : last / 3;
}
