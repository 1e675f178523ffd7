/** The sync section: how this engine shares locks with others. */
import type { AppDefinition } from "./definition.ts";
import { mustKnowFields, SYNC_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { isRecord, mustBeRecord, shown } from "./rule.ts";

export interface AppSync {
  readonly url: string;
  readonly controller: string;
  readonly heartbeatMs: number;
  readonly inactiveMs: number;
  readonly pollMs: number;
  readonly tables: {
    readonly limits: string;
    readonly controllers: string;
    readonly states: string;
    readonly locks: string;
  };
}

const SYNC_DEFAULTS = {
  heartbeatSeconds: 60,
  inactiveControllerSeconds: 300,
  pollSeconds: 5,
  limitTableName: "sync_limit",
  controllerTableName: "sync_controller",
  stateTableName: "sync_state",
  lockTableName: "sync_lock",
} as const;

export function syncOf({ sync }: AppDefinition): AppSync | null {
  if (sync === undefined) return null;
  const said = { ...SYNC_DEFAULTS, ...sync };
  return Object.freeze({
    url: said.url,
    controller: said.controllerName,
    heartbeatMs: said.heartbeatSeconds * 1_000,
    inactiveMs: said.inactiveControllerSeconds * 1_000,
    pollMs: said.pollSeconds * 1_000,
    tables: Object.freeze({
      limits: said.limitTableName,
      controllers: said.controllerTableName,
      states: said.stateTableName,
      locks: said.lockTableName,
    }),
  });
}

const LIKE = '{ url: "postgres://user@host/database", controllerName: "berlin" }';
const URLS = /^(?:postgres|postgresql|mysql|mariadb):\/\//;
const TABLE = /^[A-Za-z_]\w{0,62}(?:\.[A-Za-z_]\w{0,62})?$/;

/** A controller that misses two heartbeats is still alive. */
const BEATS = 3;

export function* syncProblems({ sync }: AppDefinition): Problems {
  yield* mustBeRecord("sync", sync, LIKE);
  if (!isRecord(sync)) return;
  yield* mustKnowFields("sync.", sync, SYNC_FIELDS);
  const { url, controllerName } = sync;
  if (typeof url !== "string" || !URLS.test(url))
    yield {
      field: "sync.url",
      rule: `must name a PostgreSQL or MySQL database${typeof url === "string" ? "" : `, but is ${shown(url)}`}`,
      cure: `Write it like ${LIKE}`,
    };
  if (typeof controllerName !== "string" || !/^[^\s/]{1,191}$/.test(controllerName))
    yield {
      field: "sync.controllerName",
      rule: `must be a name without spaces and slashes, but is ${shown(controllerName)}`,
      cure: 'Give each engine its own, like "berlin"',
    };
  yield* secondsProblems(sync);
  yield* tableProblems(sync);
}

const SECONDS = ["heartbeatSeconds", "inactiveControllerSeconds", "pollSeconds"] as const;
const TABLES = ["limitTableName", "controllerTableName", "stateTableName", "lockTableName"] as const;
const A_DAY = 86_400;

function* secondsProblems(sync: Readonly<Record<string, unknown>>): Problems {
  for (const field of SECONDS) {
    const said = sync[field];
    if (said === undefined || (typeof said === "number" && said > 0 && said <= A_DAY)) continue;
    yield {
      field: `sync.${field}`,
      rule: `must be a number of seconds above 0, but is ${shown(said)}`,
      cure: `Leave it out for ${SYNC_DEFAULTS[field]}`,
    };
  }
  const { heartbeatSeconds, inactiveControllerSeconds } = { ...SYNC_DEFAULTS, ...sync };
  if (Number(inactiveControllerSeconds) < BEATS * Number(heartbeatSeconds))
    yield {
      field: "sync.inactiveControllerSeconds",
      rule: `must be at least ${BEATS} times heartbeatSeconds, so that a lost heartbeat or two do not matter`,
      cure: `Set it to ${BEATS * Number(heartbeatSeconds)} or more`,
    };
}

function* tableProblems(sync: Readonly<Record<string, unknown>>): Problems {
  const names = TABLES.map((field) => sync[field] ?? SYNC_DEFAULTS[field]);
  for (const [index, field] of TABLES.entries()) {
    const name = names[index];
    if (typeof name !== "string" || !TABLE.test(name))
      yield {
        field: `sync.${field}`,
        rule: `must be a name of letters, digits and underscores, but is ${shown(name)}`,
        cure: `Leave it out for ${SYNC_DEFAULTS[field]}`,
      };
    else if (names.indexOf(name) < index)
      yield { field: `sync.${field}`, rule: `"${name}" is named twice`, cure: "Name four tables" };
  }
}
