/** Queues, and how many units wait in them. Units are counted, not read. */
import { queueKey } from "../../core/gate/key.ts";
import { isOfLocks } from "../../core/lock/request.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, text } from "../row.ts";
import { isRunQueue } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { raw, sql } from "../sql.ts";
import type { QueueRow } from "../store.ts";

const UNRANKED = 100;

interface Count {
  /** A lane, or a queue. */
  readonly of: string;
  readonly units: number;
}

const perLane = (table: string): Sql<Count> =>
  sql`SELECT lane, count(*) AS units FROM ${raw(table)} GROUP BY lane`.as((row) => ({
    of: text(row.lane),
    units: int(row.units),
  }));

export function* queues(): Flow<QueueRow[]> {
  const { ranks, said, waiting, running, later, lanes } = yield* flight({
    ranks: sql`SELECT name, queue_rank FROM sluice_queue`.as(
      (row) => [text(row.name), int(row.queue_rank)] as const,
    ),
    said: sql`SELECT gate, app, queue_rank FROM sluice_declared WHERE queue_rank IS NOT NULL ORDER BY gate, app`.as(
      (row) => ({ gate: text(row.gate), app: text(row.app), rank: int(row.queue_rank) }),
    ),
    waiting: perLane("sluice_waiting"),
    running: perLane("sluice_running"),
    later:
      sql`SELECT t.queue, count(*) AS units FROM sluice_later u JOIN sluice_task t ON t.id = u.id GROUP BY t.queue`.as(
        (row) => ({ of: text(row.queue), units: int(row.units) }),
      ),
    // Units that no pass has taken in yet are in line, too.
    lanes: sql`SELECT id AS lane, queue FROM sluice_lane UNION SELECT lane, queue FROM sluice_arrival`.as(
      (row) => [text(row.lane), text(row.queue)] as const,
    ),
  });
  const queueOf = new Map(lanes);
  const rank = new Map(ranks);
  const sum = (counts: readonly Count[], isOfQueue: (of: string) => boolean): number =>
    counts.reduce((all, { of, units }) => all + (isOfQueue(of) ? units : 0), 0);
  const names = new Set([...rank.keys(), ...queueOf.values(), ...later.map(({ of }) => of)]);
  const found = [...names]
    .filter((name) => !isRunQueue(name) && !isOfLocks(name))
    .map((name) => ({
      name,
      rank: rank.get(name) ?? UNRANKED,
      ranks: said.filter(({ gate }) => gate === queueKey(name)).map(({ app, rank }) => ({ app, rank })),
      waiting: sum(waiting, (lane) => queueOf.get(lane) === name),
      running: sum(running, (lane) => queueOf.get(lane) === name),
      later: sum(later, (queue) => queue === name),
    }));
  return found.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
}

/** The number of waiting units with the same queue and task. */
interface Waiting {
  readonly queue: string;
  readonly task: string;
  readonly units: number;
}

export const waitingRow = (row: Row): Waiting => ({
  queue: text(row.queue),
  task: text(row.task),
  units: int(row.units),
});

export const waiting = (): Flow<(Waiting & { readonly asks: string })[]> =>
  send(
    sql`SELECT l.queue, l.task, l.asks, SUM(u.units) AS units FROM (SELECT lane, count(*) AS units FROM sluice_waiting GROUP BY lane) AS u
      JOIN (SELECT id, queue, task, asks FROM sluice_lane UNION SELECT lane, queue, task, asks FROM sluice_arrival) AS l ON l.id = u.lane
      GROUP BY l.queue, l.task, l.asks ORDER BY l.queue, l.task, l.asks`.as((row) => {
      const { queue, task, units } = waitingRow(row);
      return { queue, task, asks: text(row.asks), units };
    }),
  );
