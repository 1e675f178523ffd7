/**
 * The pass: complete finished claims, lock, look, decide, write. It takes two flights and one commit.
 *
 * Finished claims are completed before the gates are locked: that can only lower usage, and it need not keep
 * others waiting. It cannot deadlock with recovery, which skips claims that another transaction has locked.
 * From then on the order of locks is: gates by name, lost claims, waiting units, lanes by id. ARCHITECTURE.md
 * lists the orders of all verbs. Between the first lock and the commit, a pass waits only for the database's
 * own answers.
 */
import type { Flow } from "../flow.ts";
import type { LaneSpec } from "../lane.ts";
import type { Dialect } from "../sql.ts";
import type { Moves, Passed, Scope, View } from "../store.ts";
import type { Announced } from "./arrival.ts";
import { byEpoch } from "./claim.ts";
import { firstFlight, lookAround } from "./pass-look.ts";
import { acceptedOf, openedBy, secondFlight } from "./pass-write.ts";

export function* pass(scope: Scope, decide: (view: View) => Moves, dialect: Dialect): Flow<Passed> {
  const seen = yield* firstFlight(scope, dialect);
  const looked = yield* lookAround(scope, seen);
  const moves = decide(looked.view);
  const accepted = acceptedOf(scope, seen);
  const opened = openedBy(seen.arrivals);
  const written = yield* secondFlight({ ...looked, scope, seen, moves, accepted, opened }, dialect);
  return {
    now: looked.view.now,
    claimed: written.claimed.sort(byEpoch),
    started: written.started,
    accepted,
    arrived: opened.map(laneSpec),
  };
}

const laneSpec = ({ lane, queue, task, asks }: Announced): LaneSpec => ({ id: lane, queue, task, asks });
