/** Rules for pools, and for what tasks ask from them. */

import { isManyValues } from "../gate/check-key.ts";
import { obstacle } from "../gate/gate.ts";
import { ANY, poolKey } from "../gate/key.ts";
import { leaseProblem } from "../gate/range.ts";
import { MOST_SLOTS } from "../number.ts";
import { textProblem } from "../text.ts";
import { APP_DEFAULTS } from "./app.ts";
import type { AppDefinition, PoolOptions } from "./definition.ts";
import { mustKnowFields, POOL_FIELDS } from "./fields.ts";
import { unknownAmong } from "./near.ts";
import type { Problems } from "./rule.ts";
import {
  entriesOf,
  isRecord,
  millis,
  mustBeBoolean,
  mustBeDuration,
  mustBeName,
  mustBeRecord,
  mustBeWhole,
} from "./rule.ts";

const LIKE = '{ limit: 5, lease: "5m" }';

export function* poolProblems({ pools }: AppDefinition): Problems {
  yield* mustBeRecord("pools", pools, `{ database: ${LIKE} }`);
  for (const [name, options] of entriesOf(pools)) yield* onePool(`pools.${name}`, name, options);
}

function* onePool(field: string, name: string, options: unknown): Problems {
  yield* mustBeName(field, name, "a pool's name");
  if (!isRecord(options)) {
    yield* mustBeRecord(field, options ?? null, LIKE);
    return;
  }
  yield* mustKnowFields(`${field}.`, options, POOL_FIELDS);
  const cure = "Set it to 1 or more (to pause it, set its limit to 0 at run time)";
  yield* mustBeWhole(`${field}.limit`, options.limit ?? null, 1, cure);
  yield* mustBeDuration(`${field}.lease`, options.lease);
  const leaseMs = millis(options.lease, APP_DEFAULTS.poolLease);
  const rule = leaseMs ? leaseProblem(leaseMs) : undefined;
  if (rule)
    yield { field: `${field}.lease`, rule, cure: "Set a longer one, or leave it out for the default" };
  yield* mustBeBoolean(`${field}.perValue`, options.perValue, "Write true for one limit per value");
}

/** Also checks asks that are computed from the input at enqueue. */
export function* askProblems(
  field: string,
  asks: unknown,
  pools: AppDefinition["pools"],
  who = "task",
): Problems {
  if (asks === undefined || typeof asks === "function") return;
  yield* mustBeRecord(field, asks, "{ database: 2 }");
  for (const [name, slots] of entriesOf(asks))
    yield* oneAsk(`${field}.${name}`, name, slots, pools ?? {}, who);
}

function* oneAsk(
  field: string,
  ask: string,
  slots: unknown,
  pools: Readonly<Record<string, PoolOptions>>,
  who: string,
): Problems {
  yield* mustBeWhole(field, slots ?? null, 1, "Ask for 1 slot or more, or leave the pool out", MOST_SLOTS);
  const [name = ""] = ask.split("=", 1);
  const pool = Object.hasOwn(pools, name) ? pools[name] : undefined;
  if (!pool) {
    const rule = `there is no pool "${name}"${unknownAmong(name, Object.keys(pools))}`;
    yield { field, rule, cure: `Name a declared pool, or add "${name}" to pools` };
    return;
  }
  yield* mustFitShape(field, ask, name, pool.perValue === true);
  const unfit = textProblem(poolKey(ask));
  if (unfit) yield { field, rule: `the key of a pool's value ${unfit}`, cure: "Ask for another value" };
  if (neverFits(slots as number, pool.limit))
    yield {
      field,
      rule: `pool "${ask}": asked for ${slots} slots, but its limit is ${pool.limit}, so this ${who} can never start`,
      cure: `Ask for fewer, or set pools.${name}.limit to ${slots}`,
    };
}

/** True if a pool with this limit could never give so many slots. */
export function neverFits(slots: number, limit: number): boolean {
  return obstacle({ key: "", limit, paused: false, line: "bypass", held: 0 }, 0, 0, slots) === "never";
}

function* mustFitShape(field: string, ask: string, name: string, perValue: boolean): Problems {
  const value = ask.includes("=") ? ask.slice(name.length + 1) : undefined;
  if (perValue && (value === undefined || value === "" || value === ANY || isManyValues(value)))
    yield {
      field,
      rule: `pool "${name}" has a limit per value, but "${ask}" names none`,
      cure: `Ask for it as "${name}=<value>"`,
    };
  if (!perValue && value !== undefined)
    yield {
      field,
      rule: `pool "${name}" has one limit for all, but "${ask}" names a value`,
      cure: `Ask for it as "${name}", or set pools.${name}.perValue to true`,
    };
}
