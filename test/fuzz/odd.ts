// Unexpected texts, numbers and values, and the calls that can be made with each of them.

import fc from "fast-check";
import type { Sluice } from "../../src/index.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { allArguments, outcomeOf, VERBS, verbOf } from "../names/verbs.ts";
import type { Crew } from "./crew.ts";

/** Any code units, including unpaired surrogates. */
const halves = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 60 })
  .map((codes) => String.fromCharCode(...codes));

const long = fc
  .tuple(fc.constantFrom("x", "ж", "😀", "\0", "\ud800", "a "), fc.integer({ min: 100, max: 100_000 }))
  .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)));

const known = fc.constantFrom(
  ..."| |  |*|a=b|=|acme|acme |ACME|\0|\ud800|\udc00x|'|\"|\\|{}|[]|%s|null|undefined|NaN|-1|1e999|__proto__|constructor|toString|@runs|run:x/async|queue:|pool:|tag:|:|cluster|\u2028|\u202e|\ufeff|\uffff|\u{1f600}|e\u0301|é|ı|İ|ß".split(
    "|",
  ),
);

export const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "binary", maxLength: 80 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 2, arbitrary: halves },
  { weight: 3, arbitrary: known },
  { weight: 1, arbitrary: long },
);

const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    Number.NaN,
    -0,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
    1.5,
    -1,
    0,
    "7",
    null,
  ),
);

const value = fc.oneof(
  fc.anything({
    withBigInt: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withDate: true,
  }),
  text,
  fc.dictionary(text, text, { maxKeys: 3 }),
);

/** A call with odd values. It returns the ID of the task or run it created. */
export interface Deed {
  readonly name: string;
  readonly odd: unknown;
  do(sluice: Sluice, crew: Crew): Promise<{ readonly id: string } | undefined>;
}

const deed = <T>(
  name: string,
  odd: fc.Arbitrary<T>,
  act: (given: T, sluice: Sluice, crew: Crew) => Promise<unknown>,
): fc.Arbitrary<Deed> =>
  odd.map((given) => ({
    name,
    odd: given,
    // The given value may be long.
    [fc.toStringMethod]: () => `${name} ${fc.stringify(given).slice(0, 300)}`,
    do: async (sluice, crew) => {
      const done = await act(given, sluice, crew);
      const id = (done as { id?: unknown } | undefined)?.id;
      return typeof id === "string" && name.includes("made") ? { id } : undefined;
    },
  }));

/** Turns type checking off. */
// biome-ignore lint/suspicious/noExplicitAny: the fuzzer passes values of any type.
type Any = any;

/** Every public verb that may be called beside others, with the place of one argument, and the option if it has options. */
const CALLS = allArguments(VERBS).filter(
  ({ room, verb }) => room !== "" || !["worker", "close"].includes(verb),
);

const call = fc.record({ at: fc.constantFrom(...CALLS), odd: fc.oneof(text, number, value) });

/** Each kind of deed. */
export const KINDS: readonly fc.Arbitrary<Deed>[] = [
  deed("made: a pool's value", text, (odd, sluice, { tenant }) => sluice.enqueue(tenant, { of: odd })),
  deed("made: an idempotency key", text, (odd, sluice, { echo }) =>
    sluice.enqueue(echo, 1, { idempotencyKey: odd }),
  ),
  deed("made: an input", value, (odd, sluice, { echo }) => sluice.enqueue(echo, odd as Any)),
  deed("made: a priority", number, (odd, sluice, { echo }) =>
    sluice.enqueue(echo, 1, { priority: odd as Any }),
  ),
  deed(
    "made: a delay",
    fc.oneof(text, fc.constantFrom("1ms", "99999999d", "0.001ms")),
    (odd, sluice, { echo }) => sluice.enqueue(echo, 1, { delay: odd }),
  ),
  deed("made: a deadline", fc.oneof(number, text), (odd, sluice, { echo }) =>
    sluice.enqueue(echo, 1, { goodUntil: new Date(odd as Any) }),
  ),
  deed("made: slots", number, (odd, sluice, { slots }) => sluice.enqueue(slots, { of: odd as Any })),
  deed("made: a queue", text, (odd, sluice, { echo }) => sluice.enqueue(echo, 1, { queue: odd })),
  deed("made: a result", value, (odd, sluice, crew) =>
    crew.giving(odd, (at) => sluice.enqueue(crew.give, at)),
  ),
  deed("made: an error", value, (odd, sluice, crew) =>
    crew.giving(odd, (at) => sluice.enqueue(crew.fail, at)),
  ),
  deed("made: a log", value, (odd, sluice, crew) => crew.giving(odd, (at) => sluice.enqueue(crew.say, at))),
  deed("made: a tag's value", text, (odd, sluice, { flow }) =>
    sluice.submit(flow, 1, { tags: { tenant: odd } }),
  ),
  deed("made: a tag's key", text, (odd, sluice, { flow }) =>
    sluice.submit(flow, 1, { tags: { [odd]: "x" } }),
  ),
  deed("made: many tags", fc.dictionary(text, text), (odd, sluice, { flow }) =>
    sluice.submit(flow, 1, { tags: odd }),
  ),
  deed("made: a source", text, (odd, sluice, { flow }) => sluice.submit(flow, 1, { source: odd })),
  deed("made: a run's input", value, (odd, sluice, { flow }) => sluice.submit(flow, odd as Any)),
  deed("made: a run's key", text, (odd, sluice, { flow }) => sluice.submit(flow, 1, { idempotencyKey: odd })),
  deed("a limit's key", text, (odd, sluice) => sluice.limits.set(`pool:odd-${odd}`, 3)),
  deed(
    "a bare limit's key",
    text.filter((odd) => !/^(cluster|runs|queue|tag|pool)/.test(odd)),
    (odd, sluice) => sluice.limits.reset(odd),
  ),
  deed("a limit", number, (odd, sluice) => sluice.limits.set("pool:other", odd as Any)),
  deed("a pool's name", text, (odd, sluice) => sluice.pools.set(`odd${odd}`, 3)),
  deed("no pool's name", fc.constant(""), (odd, sluice) => sluice.pools.set(odd, 3)),
  deed(
    "a queue's name",
    text.filter((odd) => odd !== "default"),
    (odd, sluice) => sluice.queues.pause(odd),
  ),
  deed("who", text, async (odd, sluice, { echo }) => {
    const { id } = await sluice.enqueue(echo, 1);
    return sluice.cancel(id, odd);
  }),
  deed("an id for every verb", text, async (odd, sluice, { world }) => {
    for (const { room, verb, at, given, of } of CALLS)
      if (of === "id") {
        const all = given.map((argument, index) => (index === at ? odd : argument.valid(world)));
        await refusing(() => verbOf(sluice, room, verb)(...all));
      }
  }),
  deed("any verb", call, async ({ at: { room, verb, at, option, given }, odd }, sluice, { world }) => {
    const wrong = option === undefined ? odd : { [option]: odd };
    const all = given.map((argument, index) => (index === at ? wrong : argument.valid(world)));
    await refusing(() => verbOf(sluice, room, verb)(...all));
  }),
  deed(
    "a list",
    fc.record({ queue: text, name: text, before: text, limit: number }, { requiredKeys: [] }),
    (odd, sluice) => sluice.list(odd as Any),
  ),
  deed("a declaration of an app", text, async (odd, { store }) => {
    const app = defineApp({
      name: "odd",
      tasks: [task({ id: odd, run: () => 1 })],
      queues: { [odd]: {} },
      pools: { [odd]: { limit: 1 } },
    });
    // Closing it would close the store of the others too.
    await (await connect({ store, app })).deploy();
  }),
  deed("a declaration", fc.tuple(text, text), async ([odd, other], { store }) => {
    for (const names of [
      { app: odd },
      { queues: [{ name: odd, rank: null }] },
      { gates: [{ key: `pool:${odd}=${other}`, limit: 1, line: "bypass" }] },
      { triggers: [{ name: odd, kind: "sensor", workflow: other, spec: "{}" }] },
    ])
      await refusing(() => store.declare({ app: "odd too", queues: [], gates: [], ...names } as Any));
  }),
];

/** Ignores clear refusals, and throws any other error. */
async function refusing(verb: () => unknown): Promise<void> {
  const error = await outcomeOf(verb);
  if (error !== undefined && !isClear(error)) throw error;
}

/** Errors that say something else than "this is refused". */
const NO_REFUSAL = new Set([
  "BAD_DATA",
  "STORE_UNREACHABLE",
  "STORE_REFUSED",
  "STORE_GONE",
  "AMBIGUOUS_COMMIT",
  "CLOSED",
]);

/**
 * True for our own error with a code and a message that is clear and short, even if the refused value is
 * huge.
 */
export function isClear(error: unknown): boolean {
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  const ours = name === "SluiceError" || name === "ConfigError";
  return ours && typeof code === "string" && !NO_REFUSAL.has(code) && String(message).length < 4_000;
}
