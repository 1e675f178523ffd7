/**
 * The words of the machine that a worker is: the state it is in, what can happen to it, and the orders that follow.
 * `follow.ts` says what follows from what, and touches nothing; `worker.ts` carries the orders out.
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
 * Beside it, in every phase:
 *
 *   happening        what becomes of the state         orders
 *   sessionOpened    claims under that session
 *   sessionLost      no session                        forget, speak
 *   sessionRenewed                                     reconcile
 *   hint             hinted                            speak
 *   toSay                                              speak
 *   asked            neither hinted nor its own turn
 *   reached          no failures
 *   answered         more or not                       speak if more, lookAgain if slots were left to others
 *   ownTurn          hinted, its own turn              speak
 *   unanswered with  gone, no session                  giveUp, speak; only speak when it is known already
 *     STORE_GONE
 *   unanswered       recovering, one failure more      recover; nothing when it is recovering already
 *   stillAway        one failure more                  recover
 *   recovered        hinted, not recovering            speak
 *   leased                                             keepClaims
 *   cancelHeard      looks for cancelled tasks         lookForCancelled; nothing when it does already
 *   cancelDue        does not                          dropStale
 *   stepsEnded                                         tellSteps
 */

export type Phase =
  /** Nothing runs, and nobody is spoken to. */
  | "stopped"
  /** A session is opened. */
  | "opening"
  /** Claims, runs and reports. */
  | "working"
  /** Begins nothing more, and waits for the code that runs. */
  | "draining"
  /** All code was told to end. */
  | "aborting"
  /** The executor ends by force what has not ended. */
  | "halting"
  /** Waits until the last ends are told. */
  | "reporting"
  /** Says what is left to say, and lets go of the session. */
  | "closing";

export interface State {
  readonly phase: Phase;
  /** The session that it claims under; none before it is open, and after it was lost. */
  readonly session: string | undefined;
  /** How long the stop may take: the shortest time that anybody has given it. */
  readonly graceMs: number;
  /** Somebody said that there may be something new, and the store was not asked since. */
  readonly hinted: boolean;
  /** Others had their turn: slots that are still free are ours. */
  readonly ownTurn: boolean;
  /** The last answer said that asking again at once may bring more. */
  readonly more: boolean;
  /** An answer was lost, and it is not known yet what is ours. */
  readonly isRecovering: boolean;
  /** How often the store did not answer since it last did. */
  readonly failures: number;
  /** The store is not there any more: nothing is said to it, and nothing asked. */
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

/** What happens and needs no more words. These are texts: the ones that come with each task must cost nothing. */
export type PlainHappening =
  | "start"
  /** A session is open, and hints are heard. */
  | "opened"
  | "notOpened"
  /** Nothing runs, nothing is left to say, and no exchange is on its way. */
  | "idle"
  | "graceOver"
  | "halted"
  /** Everything is said, and no exchange is on its way. */
  | "allSaid"
  | "left"
  | "sessionRenewed"
  /** The store said so, or our own clock did. */
  | "sessionLost"
  /** There may be something new in line. */
  | "hint"
  /** There is something to tell the store. */
  | "toSay"
  /** An exchange is on its way. */
  | "asked"
  | "ownTurn"
  /** The store has answered, whatever it said. */
  | "reached"
  | "recovered"
  /** Claims with a lease of their own were taken. */
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
  /** The store could not say either what is ours. */
  | { readonly kind: "stillAway"; readonly error: unknown };

export type PlainOrder =
  /** Open a session and hear hints. */
  | "open"
  /** Begin the conversation with the store. */
  | "converse"
  /** Let the next exchange fly, as soon as it may. */
  | "speak"
  /** Tell others that this session takes nothing more. */
  | "retire"
  /** Give back what was claimed ahead of time. */
  | "giveBack"
  | "abort"
  | "halt"
  | "leave"
  /** Let go of everything that the lost session held. */
  | "forget"
  /** Let go of claims that were taken away. */
  | "dropStale"
  /** The same, and then of claims that were never known here, because the answer with them was lost. */
  | "reconcile"
  | "lookForCancelled"
  | "keepClaims"
  | "lookAgain"
  | "tellSteps";

export type Order =
  | PlainOrder
  /** Until it is idle, but no longer than this. */
  | { readonly do: "wait"; readonly ms: number }
  /** Abort all code: whatever it held is lost with the store. */
  | { readonly do: "giveUp"; readonly error: unknown }
  /** Ask what is ours, after a pause that grows with the failures. */
  | { readonly do: "recover"; readonly error: unknown; readonly failures: number };

/** Whether nothing new begins. */
export const isDraining = ({ phase }: State): boolean => phase !== "working" && phase !== "opening";

/** Whether only what is left to say keeps it from being over. */
export const isClosing = ({ phase }: State): boolean => phase === "closing" || phase === "stopped";
