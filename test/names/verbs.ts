// Every public verb, and what each of its arguments is: a valid value, and the values that it must refuse.

import type { Sluice } from "../../src/index.ts";
import { defineApp, task, workflow } from "../../src/index.ts";

const echo = task({ id: "echo", run: (input: unknown) => input });
const flow = workflow({ id: "flow", steps: (s) => s.step("only", echo, 1) });
export const app = defineApp({
  name: "verbs",
  tasks: [echo],
  workflows: [flow],
  pools: { gpu: { limit: 1 } },
  schedules: [{ id: "nightly", workflow: "flow", cron: "0 3 * * *" }],
});

/** The units that the valid arguments name. */
export interface World {
  readonly task: string;
  readonly queued: string;
  readonly over: string;
}

/** An argument: its valid value, and the values in its place that must be refused. */
export interface Argument {
  readonly valid: (world: World) => unknown;
  readonly odd: readonly unknown[];
  /** It is the ID of a unit. */
  readonly of?: "id";
  /** The names of the options, if it is options. */
  readonly fields?: readonly string[];
}

const DAILY = { task: "echo", cron: "0 3 * * *" };
const LONG = "x".repeat(4_000);
/** Refused as a name, an ID or a key, whatever it names. */
export const NO_TEXT = ["a\0b", "a\ud800", "a\nb", LONG, "", 7, Number.NaN, null, {}, [], ["a"], Symbol("a")];
const NO_NUMBER = [Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2 ** 63, "7", null, {}, [1], Symbol("7")];

/** Refused in the place of a record, though some of them have fields. */
const NO_RECORD = [7, "a", [], ["a"], new Date(), new Map(), new (class Tags {})()];

const text = (valid: string | ((world: World) => string)): Argument => ({
  valid: typeof valid === "string" ? () => valid : valid,
  odd: NO_TEXT,
});
const number = (valid: number, ...more: readonly unknown[]): Argument => ({
  valid: () => valid,
  odd: [...NO_NUMBER, ...more],
});
/** A value with its own list of odd ones. */
const value = (valid: unknown, odd: readonly unknown[]): Argument => ({ valid: () => valid, odd });
/** Anything is allowed here. */
const any = (valid: unknown): Argument => value(valid, []);

/** Options: each option with its odd values, unknown ones, and values that are no options. Null is left out. */
function options(fields: Readonly<Record<string, Argument>>): Argument {
  const wrong = Object.entries(fields).flatMap(([name, { odd }]) =>
    odd.filter((each) => each !== null).map((each) => ({ [name]: each })),
  );
  return {
    valid: () => ({}),
    odd: [...wrong, { unheard: 1 }, null, 3, "fast", []],
    fields: Object.keys(fields),
  };
}

const by = text("ann");
const id: Argument = { ...text((world) => world.task), of: "id" };
const run: Argument = { ...text((world) => world.queued), of: "id" };
const over: Argument = { ...text((world) => world.over), of: "id" };
const page = options({ limit: number(10, -1), after: number(0, -2) });
const duration = value("1s", ["a\0b", LONG, 7, null, {}, "1 fortnight"]);
const signal = value(undefined, [3, "now", {}]);
const grace = options({ graceMs: value(0, [Number.NaN, -1, "5s"]) });
const limit = number(5, -2);
const key = text("pool:gpu");
const task_ = value("echo", NO_TEXT);
const workflow_ = value("flow", NO_TEXT);
const enqueuing = {
  queue: text("default"),
  priority: number(0),
  delay: duration,
  runAt: value(undefined, [Number.NaN, "soon", {}, new Date(Number.NaN)]),
  goodUntil: value(undefined, [Number.NaN, "soon", {}, new Date(Number.NaN)]),
  idempotencyKey: text("k"),
};
const executing = {
  priority: number(0),
  tags: value({}, [...NO_RECORD, { a: "b\0" }, { "a\0": "b" }, { a: LONG }, { a: {} }]),
  idempotencyKey: text("k"),
  source: text("a test"),
};
const submitting = { ...executing, delay: duration, runAt: enqueuing.runAt };

type Arguments = readonly Argument[];

/** The verbs of each room of `Sluice`; "" is `Sluice` itself. */
export const VERBS: Readonly<Record<string, Readonly<Record<string, Arguments>>>> = {
  "": {
    enqueue: [task_, any(1), options(enqueuing)],
    enqueueMany: [value([], [7, "a", {}, null, [7], [null], [{ task: "a\0b" }]]), options({})],
    submit: [workflow_, any(undefined), options(submitting)],
    execute: [workflow_, any(undefined), options(executing)],
    mutex: [text("door"), options({ namespace: text("global") })],
    semaphore: [text("door"), options({ namespace: text("global") })],
    pool: [text("gpu")],
    explain: [id],
    get: [id],
    ended: [id, options({ signal })],
    list: [
      options({
        state: text("waiting"),
        queue: text("default"),
        name: text("echo"),
        before: id,
        limit: number(5, 0, -1),
      }),
    ],
    changes: [
      options({
        after: value("a.0", [...NO_TEXT, "a", "a.b", "a.-1", "a.1.5", "a.99999999999999999999", "a\0.1"]),
        run: text("a"),
        task: text("echo"),
        queue: text("default"),
        kinds: value(["TaskEnqueued"], [7, "TaskEnqueued", ["Nothing"], [7], {}]),
        keep: duration,
        signal,
      }),
    ],
    events: [id],
    stopping: [id],
    now: [],
    find: [text("01")],
    workers: [],
    examine: [],
    signal: [value("paid", NO_TEXT), any({ order: 1 }), options({ keep: duration, key: text("k") })],
    cancel: [id, by],
    retry: [over, by],
    restore: [id, by],
    wake: [],
    deploy: [options({ file: value(undefined, [7, {}, []]) })],
    worker: [
      options({
        name: text("w"),
        slots: number(1, -1),
        queues: value(["default"], ["default", 7, ["a\0b"], [7]]),
        poll: duration,
      }),
    ],
    close: [grace],
  },
  limits: {
    users: [key],
    list: [],
    set: [key, limit, by, options({ leaseMs: number(1_000, -1), isNew: any(true) })],
    reset: [key, by],
    delete: [key],
    mustBeKnown: [key],
    isKnown: [key],
    known: [],
  },
  queues: { list: [], pause: [text("default"), by], resume: [text("default"), by] },
  pools: {
    list: [],
    info: [text("gpu")],
    set: [text("gpu"), limit, options({ lease: duration, by, isNew: any(true) })],
  },
  locks: {
    list: [],
    info: [text("mutex:default/m")],
    line: [text("mutex:default/m")],
    set: [text("semaphore:default/s"), limit, by],
    release: [text("mutex:default/m"), options({ holder: id, by })],
  },
  runs: {
    get: [run],
    list: [
      options({
        state: text("queued"),
        workflow: text("flow"),
        tag: text("a=b"),
        before: run,
        ids: value([], [7, "a", {}, ["a\0b"], [7], [""]]),
        limit: number(5, 0, -1),
      }),
    ],
    ended: [run, options({ signal })],
    cancel: [run, by],
    reasons: [run],
    find: [run, text("only")],
    tree: [run],
    why: [run, options({ most: number(5, -1) })],
    pause: [run, by],
    resume: [run, by],
    rerun: [over, options({ all: any(true), by })],
    approve: [run, text("only"), options({ by, note: any("fine") })],
    reject: [run, text("only"), options({ by, note: any("fine") })],
    items: [run, text("only"), page],
    itemEvents: [run, text("only"), page],
    events: [run],
    waits: [run],
  },
  queue: {
    list: [page],
    page: [page],
    why: [run],
    cancel: [run, by],
    priority: [run, number(1), by],
    whatIf: [text("runs"), value(1, [Number.NaN, 1.5, -2, "3", 2 ** 63])],
  },
  shared: {
    list: [],
    info: [text("mtx/foo/bar")],
    setLimit: [text("sem/foo/bar"), value(1, [Number.NaN, 1.5, -2, "3", 2 ** 63, {}, [1]])],
    release: [text("mtx/foo/bar"), value(undefined, NO_RECORD)],
    controllers: [],
    removeController: [text("berlin")],
    now: [],
  },
  schedules: {
    list: [],
    pause: [text("nightly"), by],
    resume: [text("nightly"), by],
    trigger: [text("nightly"), by],
    set: [text("nags"), value(DAILY, [3, null, "x", [], {}, { ...DAILY, unheard: 1 }]), by],
    remove: [text("nightly"), by],
  },
};

type Call = (...given: unknown[]) => unknown;

/** The verb itself, ready to be called with arguments of any type. */
export function verbOf(sluice: Sluice, room: string, verb: string): Call {
  const owner: object = room === "" ? sluice : Reflect.get(sluice, room);
  return (Reflect.get(owner, verb) as Call).bind(owner);
}

const methodsOf = (of: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(of)).filter((name) => name !== "constructor");

/** The verbs that there are, from the objects themselves: each room with its methods. */
export function foundVerbs(sluice: Sluice): Record<string, string[]> {
  const rooms = Object.entries(sluice).filter(([name]) => name !== "store");
  return Object.fromEntries([
    ["", methodsOf(sluice)],
    ...rooms.map(([name, room]) => [name, methodsOf(room)]),
  ]);
}

/** One argument of a verb, or one of its options. */
interface Place {
  readonly room: string;
  readonly verb: string;
  readonly given: readonly Argument[];
  readonly at: number;
  readonly of: Argument["of"];
  readonly option: string | undefined;
}

export const allArguments = (verbs: typeof VERBS): Place[] =>
  Object.entries(verbs).flatMap(([room, of]) =>
    Object.entries(of).flatMap(([verb, given]) =>
      given.flatMap((argument, at) =>
        (argument.fields ?? [undefined]).map((option) => ({
          room,
          verb,
          given,
          at,
          of: argument.of,
          option,
        })),
      ),
    ),
  );

/** The error of a call, or undefined. A feed is begun, because `changes` itself only returns it. */
export async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    const answer = await call();
    if (answer !== null && typeof answer === "object" && "begin" in answer)
      await (answer as { begin(): Promise<unknown> }).begin();
    return undefined;
  } catch (error) {
    return error;
  }
}
