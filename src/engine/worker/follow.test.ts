import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SluiceError } from "../../core/error.ts";
import { follow } from "./follow.ts";
import type { Happening, Order, Phase, State } from "./state.ts";
import { isDraining, STOPPED_STATE } from "./state.ts";

/** The state of a machine after these happenings, and its orders step by step. */
function having(...happenings: Happening[]): { state: State; ordered: string[][] } {
  const ordered: string[][] = [];
  let state = STOPPED_STATE;
  for (const happening of happenings) {
    const step = follow(state, happening);
    state = step.state ?? state;
    ordered.push(step.orders.map(saying));
  }
  return { state, ordered };
}

const saying = (order: Order): string => {
  if (typeof order === "string") return order;
  if (order.do === "giveUp") return "giveUp";
  return order.do === "wait" ? `wait ${order.ms}` : `recover ${order.failures}`;
};

const stop = (graceMs: number): Happening => ({ kind: "stop", graceMs });
const unanswered: Happening = { kind: "unanswered", error: new Error("lost") };
const stillAway: Happening = { kind: "stillAway", error: new Error("away") };
const opened: readonly Happening[] = ["start", { kind: "sessionOpened", session: "s" }, "opened"];

describe("the life of a worker", () => {
  test("goes through its phases one by one", () => {
    const { state, ordered } = having(
      ...opened,
      stop(30_000),
      "graceOver",
      "graceOver",
      "halted",
      "idle",
      "allSaid",
      "left",
    );
    expect(ordered).toEqual([
      ["open"],
      [],
      ["converse", "speak"],
      ["retire", "giveBack", "speak", "wait 25000"],
      ["abort", "wait 1666.6666666666667"],
      ["halt"],
      ["wait 1666.6666666666667"],
      ["speak"],
      ["leave"],
      [],
    ]);
    expect(state).toEqual(STOPPED_STATE);
  });

  test("ends again when no session could be opened", () => {
    expect(having("start", "notOpened").state).toEqual(STOPPED_STATE);
  });

  test("drains at once when the stop came while it was opened", () => {
    const { state, ordered } = having("start", stop(1_000), "opened");
    expect(state.phase).toBe("draining");
    expect(ordered.slice(1)).toEqual([[], ["converse", "retire", "giveBack", "speak", "wait 700"]]);
  });

  test("is shortened by another stop, and never lengthened", () => {
    expect(having(...opened, stop(1_000), stop(2_000)).ordered.at(-1)).toEqual([]);
    expect(having(...opened, stop(2_000), stop(1_000)).ordered.at(-1)).toEqual(["wait 700"]);
    expect(having(...opened, stop(2_000), "graceOver", stop(600)).ordered.at(-1)).toEqual(["wait 60"]);
    const halted = having(...opened, stop(2_000), "graceOver", "graceOver", stop(600), "halted");
    expect(halted.ordered.slice(-2)).toEqual([[], ["wait 60"]]);
  });

  test("whatever else happens, only its own happenings move it on, and never back", () => {
    const order: Phase[] = [
      "opening",
      "working",
      "draining",
      "aborting",
      "halting",
      "reporting",
      "closing",
      "stopped",
    ];
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 60 }), (happenings) => {
        let { state } = having(...opened);
        for (const happening of happenings) {
          const next = follow(state, happening).state ?? state;
          const from = order.indexOf(state.phase);
          const to = order.indexOf(next.phase);
          if (state.phase === "stopped") expect(["stopped", "opening"]).toContain(next.phase);
          else expect(to === from || to === from + 1 || next.phase === "stopped").toBe(true);
          state = next;
        }
      }),
    );
  });
});

describe("a session", () => {
  test("that is lost is forgotten once, and the store is asked anew", () => {
    const { state, ordered } = having(...opened, "asked", "sessionLost", "sessionLost");
    expect(ordered.slice(-2)).toEqual([["forget", "speak"], []]);
    expect([state.session, state.hinted]).toEqual([undefined, true]);
  });
});

describe("a store that is not there any more", () => {
  const gone: Happening = { kind: "unanswered", error: new SluiceError("STORE_GONE", "deleted") };

  test("ends the session and all code once, whoever notices, and is not asked again", () => {
    const { state, ordered } = having(...opened, gone, gone, unanswered, stillAway);
    expect(ordered.slice(3)).toEqual([["giveUp", "speak"], ["speak"], ["speak"], ["speak"]]);
    expect([state.isGone, state.session, state.isRecovering]).toEqual([true, undefined, false]);
  });

  test("is noticed while it is recovered", () => {
    const { state, ordered } = having(...opened, unanswered, gone, "recovered", stillAway);
    expect(ordered.slice(3)).toEqual([["recover 1"], ["giveUp", "speak"], ["speak"], ["speak"]]);
    expect([state.isGone, state.isRecovering]).toEqual([true, false]);
  });

  test("keeps no worker from its stop", () => {
    expect(having(...opened, gone, stop(1_000)).state.phase).toBe("draining");
  });
});

describe("the conversation", () => {
  test("has a hint and its own turn to say until they are said", () => {
    expect(having(...opened).state.hinted).toBe(true);
    expect(having(...opened, "asked").state.hinted).toBe(false);
    const turn = having(...opened, "asked", "ownTurn");
    expect([turn.state.hinted, turn.state.ownTurn, turn.ordered.at(-1)]).toEqual([true, true, ["speak"]]);
    expect(having(...opened, "ownTurn", "asked").state.ownTurn).toBe(false);
  });

  test("goes on at once where there is more, unless it drains", () => {
    const more: Happening = { kind: "answered", more: true, yielded: true };
    expect(having(...opened, more).ordered.at(-1)).toEqual(["speak", "lookAgain"]);
    const draining = having(...opened, stop(1_000), more);
    expect([draining.state.more, draining.ordered.at(-1)]).toEqual([false, ["lookAgain"]]);
  });

  test("is recovered once, however many answers are lost, and with ever longer pauses", () => {
    const { state, ordered } = having(...opened, unanswered, unanswered, stillAway, "recovered", unanswered);
    expect(ordered.slice(3)).toEqual([["recover 1"], [], ["recover 2"], ["speak"], ["recover 3"]]);
    expect([state.isRecovering, state.failures]).toEqual([true, 3]);
    expect(having(...opened, unanswered, "reached").state.failures).toBe(0);
  });
});

test("cancelled tasks are looked for once, however often they are heard of", () => {
  const { ordered } = having(...opened, "cancelHeard", "cancelHeard", "cancelDue", "cancelHeard");
  expect(ordered.slice(3)).toEqual([["lookForCancelled"], [], ["dropStale"], ["lookForCancelled"]]);
});

test("what comes with each task makes no new state", () => {
  const { state } = having(...opened, "asked");
  for (const happening of ["toSay", "idle", "asked", "reached", "leased", "stepsEnded"] as const)
    expect(follow(state, happening).state).toBeUndefined();
  expect(follow(state, "toSay")).toBe(follow(state, "toSay"));
});

test("nothing new begins from the stop on", () => {
  expect(isDraining(having(...opened).state)).toBe(false);
  expect(isDraining(having("start").state)).toBe(false);
  expect(isDraining(having(...opened, stop(1)).state)).toBe(true);
});

const anything: fc.Arbitrary<Happening> = fc.oneof(
  fc.constantFrom<Happening>(
    "start",
    "opened",
    "idle",
    "graceOver",
    "halted",
    "allSaid",
    "left",
    "sessionRenewed",
    "sessionLost",
    "hint",
    "toSay",
    "asked",
    "ownTurn",
    "reached",
    "recovered",
    "leased",
    "cancelHeard",
    "cancelDue",
    "stepsEnded",
    { kind: "sessionOpened", session: "t" },
    { kind: "answered", more: true, yielded: false },
    unanswered,
    stillAway,
  ),
  fc.nat(60_000).map(stop),
);
