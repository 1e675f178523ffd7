/** Turns a call of `enqueue` into what the store keeps. Everything that can be refused is refused here. */
import type { AppPool } from "../core/app/app.ts";
import { APP_DEFAULTS } from "../core/app/app.ts";
import { askProblems } from "../core/app/pools.ts";
import { SluiceError } from "../core/error.ts";
import { asksFor, asksOfEveryTask } from "../core/gate/asks.ts";
import { stricter } from "../core/gate/declared.ts";
import { describe } from "../core/gate/describe.ts";
import type { Ask, Limit } from "../core/gate/gate.ts";
import { obstacle } from "../core/gate/gate.ts";
import { DEFAULT_NAMESPACE, familyOf } from "../core/gate/key.ts";
import { sayNumber } from "../core/number.ts";
import type { AnyTask, PoolAsks } from "../core/task/definition.ts";
import type { EnqueueOptions } from "../core/task/enqueue-options.ts";
import { ownOptions } from "../core/task/handler.ts";
import { parseDuration } from "../core/time.ts";
import { optionsOfTask } from "../core/unit-options.ts";
import { parseInput } from "../executor/function/function-executor.ts";
import { inputOf, inputText } from "../executor/input.ts";
import { laneOf } from "../store/lane.ts";
import type { NewTask } from "../store/store.ts";
import { locksFor } from "./locks-for.ts";

export async function newTask(
  task: AnyTask,
  input: unknown,
  options: EnqueueOptions,
  id: string,
  pools: readonly AppPool[] = [],
): Promise<NewTask> {
  const text = inputJson(task, input);
  // The input is checked as the task will read it. Input that does not survive JSON is refused now, not when
  // the task runs.
  const parsed = await parseInput(task, inputOf(text));
  const queue = options.queue ?? task.queue ?? APP_DEFAULTS.queue;
  const priority = options.priority ?? task.priority ?? 0;
  if (!Number.isSafeInteger(priority))
    throw new SluiceError(
      "BAD_PRIORITY",
      `task "${task.id}": priority must be a whole number, but is ${sayNumber(priority)}.`,
    );
  if (options.delay !== undefined && options.runAt !== undefined)
    throw new SluiceError("BAD_OPTIONS", `task "${task.id}": give either delay or runAt, not both.`);
  const namespace = DEFAULT_NAMESPACE;
  const locks = locksFor(`task "${task.id}"`, task, parsed, namespace);
  const good = options.goodUntil ?? task.goodUntil;
  return {
    id,
    name: task.id,
    priority,
    lane: laneOf(queue, task.id, [
      ...asksOfEveryTask(queue),
      ...asksFor({ pools: poolsOf(task, parsed, pools), locks }, namespace),
    ]),
    input: text,
    options: optionsOfTask(ownOptions(task)),
    key: options.idempotencyKey ?? null,
    runAt: instant(`task "${task.id}"`, "runAt", options.runAt),
    delayMs: options.delay === undefined ? null : parseDuration(options.delay),
    goodUntil: good instanceof Date ? instant(`task "${task.id}"`, "goodUntil", good) : null,
    goodForMs: good === undefined || good instanceof Date ? null : parseDuration(good),
  };
}

function poolsOf(task: AnyTask, parsed: unknown, declared: readonly AppPool[]): PoolAsks {
  const pools = typeof task.pools === "function" ? task.pools(parsed as never) : (task.pools ?? {});
  for (const [name, slots] of Object.entries(pools)) checkSlots(task, name, slots);
  // The asks that a function returns could not be checked with the app.
  if (typeof task.pools === "function") refuseUnknownPools(task, pools, declared);
  return pools;
}

/** Checks names only. Limits are live, so the size of an ask is checked against the store, not here. */
function refuseUnknownPools(task: AnyTask, asks: PoolAsks, declared: readonly AppPool[]): void {
  const known = declared.map(
    ({ name, perValue }) => [name, { limit: Number.MAX_SAFE_INTEGER, perValue }] as const,
  );
  for (const { rule, cure } of askProblems("pools", asks, Object.fromEntries(known)))
    throw new SluiceError("BAD_POOL", `task "${task.id}": ${rule}. ${cure}.`);
}

function checkSlots(task: AnyTask, pool: string, slots: number): void {
  if (Number.isSafeInteger(slots) && slots >= 1) return;
  throw new SluiceError(
    "BAD_SLOTS",
    `task "${task.id}": asks pool "${pool}" for ${slots} slots; ask for a whole number of at least 1.`,
  );
}

function inputJson(task: AnyTask, input: unknown): string {
  try {
    return inputText(input);
  } catch (cause) {
    throw new SluiceError("BAD_INPUT", `task "${task.id}": ${(cause as Error).message}.`, { cause });
  }
}

/** `whose` begins the message: `task "mail"`. */
export function instant(whose: string, field: string, date: Date | undefined): number | null {
  if (date === undefined || date === null) return null;
  const at = date instanceof Date ? date.getTime() : Number.NaN;
  if (Number.isNaN(at)) throw new SluiceError("BAD_OPTIONS", `${whose}: ${field} is not a valid date.`);
  return at;
}

/** Asks that could be larger than a limit. One slot fits any limit that admits at all. */
export function largeAsks(asks: readonly Ask[]): Ask[] {
  return asks.filter(({ slots }) => slots > 1);
}

/**
 * Refuses asks that could never be met. If a gate has no limit, neither in the store nor in the app, the unit
 * waits for it instead.
 */
export function refuseNever(
  asks: readonly Ask[],
  limits: ReadonlyMap<string, Limit>,
  toCome: ReadonlyMap<string, Limit> = new Map(),
): void {
  const limitOf = (key: string): Limit => limits.get(key) ?? toCome.get(key) ?? null;
  for (const { gate, slots } of asks) {
    const family = familyOf(gate);
    // The store's limit for one value already includes its family's.
    const limit = limits.get(gate) ?? stricter(limitOf(gate), family === null ? null : limitOf(family));
    const what = obstacle({ key: gate, limit, paused: false, line: "skip", held: 0 }, 0, 0, slots);
    if (what !== "never") continue;
    throw new SluiceError(
      "ASKS_TOO_MUCH",
      `${describe({ kind: "never", gate, limit: limit as number, asked: slots }, { now: 0 })}.`,
      {
        details: { gate, limit, asked: slots },
        remedies: [{ action: "setLimit", gate, limit: slots }],
      },
    );
  }
}
