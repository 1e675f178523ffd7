/**
 * Where a claim goes when it ends: to an outcome, to later (a retry that waits), or back in line. Used for what
 * holders report, for what recovery decides and for what people cancel, so that there is one way out of `running`.
 */
import type { Row } from "../flow.ts";
import type { Finished, Recovery } from "../store.ts";
import { forUpdate, now, oneOf, rows, type Sql, sql } from "../sql.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { insertEvents, type NewEvent } from "./event.ts";

export const selectClaims = (epochs: readonly number[]): Sql =>
  sql`SELECT epoch, id, lane, held, started_at, precedence, at, attempt, losses, good_until, n FROM sluice_running WHERE epoch ${oneOf(epochs)} ORDER BY id${forUpdate}`;

export const deleteClaims = (epochs: readonly number[]): Sql =>
  sql`DELETE FROM sluice_running WHERE epoch ${oneOf(epochs)}`;

/** A claim row together with where it goes. */
export interface Exit {
  readonly claim: Row;
  readonly to: Finished["to"] | Recovery["to"];
  readonly body: string | null;
  readonly delayMs: number;
  readonly attempt: number;
  readonly losses: number;
  readonly event: string;
}

export function exitOf(claim: Row, report: Finished): Exit {
  const attempt = Number(claim.attempt) - (report.to === "returned" ? 1 : 0);
  const losses = Number(claim.losses);
  return { claim, to: report.to, body: report.body, delayMs: report.delayMs, attempt, losses, event: EVENT[report.to] };
}

export function exitOfLost(claim: Row, { to, body, attempt, losses }: Recovery): Exit {
  return { claim, to, body, delayMs: 0, attempt, losses, event: to === "waiting" ? "TaskReturned" : LOST_EVENT[to] };
}

const EVENT: Readonly<Record<Finished["to"], string>> = {
  succeeded: "TaskSucceeded",
  failed: "TaskFailed",
  retry: "TaskRetried",
  returned: "TaskReturned",
};

const LOST_EVENT = { retry: "TaskLost", failed: "TaskFailed", quarantined: "TaskQuarantined", expired: "TaskExpired" } as const;

export function settle(exits: readonly Exit[]): Sql[] {
  const final = exits.filter(({ to }) => to !== "retry" && to !== "returned" && to !== "waiting");
  const delayed = exits.filter(({ to, delayMs }) => to === "retry" && delayMs > 0);
  const again = exits.filter(({ to, delayMs }) => to === "retry" && delayMs === 0);
  const back = exits.filter(({ to }) => to === "returned" || to === "waiting");
  const statements: Sql[] = [];
  if (final.length > 0) statements.push(insertOutcomes(final));
  if (delayed.length > 0) statements.push(insertLater(delayed));
  if (again.length > 0) statements.push(insertWaiting(again, "now"));
  if (back.length > 0) statements.push(insertWaiting(back, "keep"));
  const inLine = [...again, ...back].map(({ claim }) => claim.id as string);
  if (inLine.length > 0) statements.push(insertArrivalsOf(inLine));
  if (exits.length > 0) statements.push(insertEvents(exits.map(eventOf)));
  return statements;
}

const eventOf = ({ claim, event, body, to, delayMs }: Exit): NewEvent => ({
  subject: claim.id as string,
  n: Number(claim.n) + 1,
  kind: event,
  // A result is kept once, in the outcome; an error is part of the history of every attempt.
  data: to === "succeeded" ? null : to === "retry" ? JSON.stringify({ delayMs, error: parse(body) }) : body,
});

const parse = (body: string | null): unknown => (body === null ? null : JSON.parse(body));

export function insertOutcomes(exits: readonly Exit[]): Sql {
  const list = exits.map(({ claim, to, body, attempt, losses }) => ({
    id: claim.id as string,
    state: to,
    epoch: (claim.epoch as number | undefined) ?? null,
    attempt,
    losses,
    body,
    n: Number(claim.n) + 1,
  }));
  return sql`INSERT INTO sluice_outcome (id, state, epoch, attempt, losses, body, finished_at, n)
    SELECT o.id, o.state, o.epoch, o.attempt, o.losses, o.body, ${now}, o.n
    FROM ${rows("o", { id: "text", state: "text", epoch: "int", attempt: "int", losses: "int", body: "text", n: "int" }, list)}`;
}

const LIFE = { id: "text", lane: "text", precedence: "int", at: "int", attempt: "int", losses: "int", good_until: "int", n: "int", delay: "int" } as const;

const lifeOf = ({ claim, attempt, losses, delayMs }: Exit) => ({
  id: claim.id as string,
  lane: claim.lane as string,
  precedence: Number(claim.precedence),
  at: Number(claim.at),
  attempt,
  losses,
  good_until: claim.good_until === null ? null : Number(claim.good_until),
  n: Number(claim.n) + 1,
  delay: delayMs,
});

function insertLater(exits: readonly Exit[]): Sql {
  return sql`INSERT INTO sluice_later (id, lane, precedence, at, attempt, losses, good_until, n, because)
    SELECT w.id, w.lane, w.precedence, ${now} + w.delay, w.attempt, w.losses, w.good_until, w.n, 'retry' FROM ${rows("w", LIFE, exits.map(lifeOf))}`;
}

/** A unit that never ran keeps its place; one that is tried again goes behind those who came in the meantime. */
function insertWaiting(exits: readonly Exit[], at: "now" | "keep"): Sql {
  const since = at === "now" ? now : sql`w.at`;
  return sql`INSERT INTO sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)
    SELECT w.id, w.lane, w.precedence, ${since}, w.attempt, w.losses, w.good_until, w.n FROM ${rows("w", LIFE, exits.map(lifeOf))}`;
}
