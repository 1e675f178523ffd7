/**
 * A worker is a machine. Here are its states, what can happen to it, and the orders that follow.
 * `follow.ts` says what follows from what and has no effects; `worker.ts` carries out the orders.
 *
 * Its life:
 *
 *   phase      happening            next phase   orders
 *   stopped    start                opening      open
 *   opening    opened               working      converse, speak
 *   opening    notOpened            stopped
 *   opening    stop                 opening      (it drains once it is open)
 *   working    stop                 draining     retire, giveBack, speak, wait
 *   draining   idle, graceOver      aborting     abort, wait
 *   aborting   idle, graceOver      halting      halt
 *   halting    halted               reporting    wait
 *   reporting  idle, graceOver      closing      speak
 *   closing    allSaid              closing      leave
 *   closing    left                 stopped
 *   (waiting)  stop with less time  the same     wait
 *
 * In every phase, independent of its life:
 *
 *   happening        change of state                   orders
 *   sessionOpened    claims under that session
 *   sessionLost      no session                        forget, speak
 *   sessionRenewed                                     reconcile
 *   hint             hinted                            speak
 *   toSay                                              speak
 *   asked            neither hinted nor its own turn
 *   reached          no failures
 *   answered         more or not                       speak if more, lookAgain if slots were left to others
 *   ownTurn          hinted, its own turn              speak
 *   unanswered with  gone, no session                  giveUp, speak; only speak if it is already known
 *     STORE_GONE
 *   unanswered       recovering, one failure more      recover; nothing if it is already recovering
 *   stillAway        one failure more                  recover
 *   recovered        hinted, not recovering            speak
 *   leased                                             keepClaims
 *   cancelHeard      looks for cancelled tasks         lookForCancelled; nothing if it already does
 *   cancelDue        does not                          dropStale
 *   stepsEnded                                         tellSteps
 */

export type Phase =
  /** Nothing runs, and the store is not contacted. */
  | "stopped"
  /** A session is being opened. */
  | "opening"
  /** Claims, runs and reports. */
  | "working"
  /** Starts nothing more and waits for the code that runs. */
  | "draining"
  /** All code was told to end. */
  | "aborting"
  /** The executor ends by force the code that has not ended. */
  | "halting"
  /** Waits until the last outcomes are reported. */
  | "reporting"
  /** Sends the remaining reports and lets go of the session. */
  | "closing";

export interface State {
  readonly phase: Phase;
  /** The session that it claims under. Undefined before it is open and after it was lost. */
  readonly session: string | undefined;
  /** How long the stop may take: the shortest time given by any request. */
  readonly graceMs: number;
  /** A hint said that there may be something new, and the store was not asked since. */
  readonly hinted: boolean;
  /** Other workers had their turn, so slots that are still free are ours. */
  readonly ownTurn: boolean;
  /** The last answer said that another exchange right away may bring more. */
  readonly more: boolean;
  /** An answer was lost, and it is not known yet what is ours. */
  readonly isRecovering: boolean;
  /** How often in a row the store did not answer. */
  readonly failures: number;
  /** The store is gone: it is neither told nor asked anything. */
  readonly isGone: boolean;
  /** A look for cancelled tasks is planned. */
  readonly looksForCancelled: boolean;
}

export const STOPPED_STATE: State = {
  phase: "stopped",
  session: undefined,
  graceMs: Number.POSITIVE_INFINITY,
  hinted: true,
  ownTurn: false,
  more: false,
  isRecovering: false,
  failures: 0,
  isGone: false,
  looksForCancelled: false,
};

/** Happenings without data. They are strings because some come with every task and must cost nothing. */
export type PlainHappening =
  | "start"
  /** A session is open, and the worker listens for hints. */
  | "opened"
  | "notOpened"
  /** Nothing runs, nothing is left to report, and no exchange is in flight. */
  | "idle"
  | "graceOver"
  | "halted"
  /** Everything is reported, and no exchange is in flight. */
  | "allSaid"
  | "left"
  | "sessionRenewed"
  /** The store or our own clock said so. */
  | "sessionLost"
  /** There may be something new in line. */
  | "hint"
  /** There is something to tell the store. */
  | "toSay"
  /** An exchange is in flight. */
  | "asked"
  | "ownTurn"
  /** The store has answered, whatever it said. */
  | "reached"
  | "recovered"
  /** Claims with their own lease were taken. */
  | "leased"
  | "cancelHeard"
  | "cancelDue"
  /** Steps of runs have ended, and the store knows it. */
  | "stepsEnded";

export type Happening =
  | PlainHappening
  | { readonly kind: "stop"; readonly graceMs: number }
  | { readonly kind: "sessionOpened"; readonly session: string }
  | { readonly kind: "answered"; readonly more: boolean; readonly yielded: boolean }
  /** An exchange failed. */
  | { readonly kind: "unanswered"; readonly error: unknown }
  /** The store could not say what is ours, either. */
  | { readonly kind: "stillAway"; readonly error: unknown };

export type PlainOrder =
  /** Open a session and listen for hints. */
  | "open"
  /** Begin the conversation with the store. */
  | "converse"
  /** Send the next exchange as soon as possible. */
  | "speak"
  /** Tell other workers that this session takes nothing more. */
  | "retire"
  /** Give back the claims taken ahead of time. */
  | "giveBack"
  | "abort"
  | "halt"
  | "leave"
  /** Let go of everything that the lost session held. */
  | "forget"
  /** Let go of claims that were taken away. */
  | "dropStale"
  /** The same, and also let go of claims that were never known here because the answer with them was lost. */
  | "reconcile"
  | "lookForCancelled"
  | "keepClaims"
  | "lookAgain"
  | "tellSteps";

export type Order =
  | PlainOrder
  /** Wait until it is idle, but no longer than this. */
  | { readonly do: "wait"; readonly ms: number }
  /** Abort all code: its claims are lost with the store. */
  | { readonly do: "giveUp"; readonly error: unknown }
  /** Ask what is ours, after a pause that grows with the failures. */
  | { readonly do: "recover"; readonly error: unknown; readonly failures: number };

/** True if nothing new starts. */
export const isDraining = ({ phase }: State): boolean => phase !== "working" && phase !== "opening";

/** True if only pending reports keep it from being over. */
export const isClosing = ({ phase }: State): boolean => phase === "closing" || phase === "stopped";
