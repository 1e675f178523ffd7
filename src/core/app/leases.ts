/**
 * Rules for claims and leases. A lease must outlive the heartbeats that renew it: a session's lease survives
 * two lost heartbeats, a claim's survives one.
 */

import { formatDuration } from "../time.ts";
import { APP_DEFAULTS } from "./app.ts";
import type { AppDefinition } from "./definition.ts";
import { mustKnowFields, SESSION_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { millis, mustBeBeat, mustBeDuration, mustBeRecord, mustBeWhole } from "./rule.ts";

const BEATS_PER_SESSION_LEASE = 3;
const BEATS_PER_CLAIM_LEASE = 2;

export function* leaseProblems({ prefetch, claimLease, clusterCap, session }: AppDefinition): Problems {
  yield* mustBeWhole("prefetch", prefetch, 0, "Set it to 0 for the hard cap, or to how many to claim ahead");
  yield* mustBeDuration("claimLease", claimLease);
  if (typeof prefetch === "number" && prefetch > 0) yield* softCap(prefetch, claimLease, clusterCap);
  yield* mustBeRecord("session", session, '{ lease: "30s", heartbeat: "10s" }');
  yield* mustKnowFields("session.", session, SESSION_FIELDS);
  yield* mustBeDuration("session.lease", session?.lease);
  yield* mustBeBeat("session.heartbeat", session?.heartbeat);
  const heartbeat = millis(session?.heartbeat, APP_DEFAULTS.sessionHeartbeat);
  const sessionLease = millis(session?.lease, APP_DEFAULTS.sessionLease);
  yield* mustOutlive("session.lease", sessionLease, heartbeat, BEATS_PER_SESSION_LEASE);
  yield* mustOutlive(
    "claimLease",
    millis(claimLease, APP_DEFAULTS.claimLease),
    heartbeat,
    BEATS_PER_CLAIM_LEASE,
  );
}

function* softCap(prefetch: number, claimLease: unknown, clusterCap: unknown): Problems {
  if (claimLease === undefined)
    yield {
      field: "claimLease",
      rule: `must be set when prefetch is more than 0 (it is ${prefetch}), so that the claims of a lost worker are recovered`,
      cure: 'Set it, like "60s", or set prefetch to 0',
    };
  if (clusterCap !== undefined)
    yield {
      field: "prefetch",
      rule: `must be 0 when clusterCap is set, but is ${prefetch}`,
      cure: "Leave out prefetch for the hard cap, or leave out clusterCap",
    };
}

/** Other rules already report a lease of 0ms or one that cannot be parsed. */
function* mustOutlive(
  field: string,
  lease: number | undefined,
  beat: number | undefined,
  beats: number,
): Problems {
  if (!lease || !beat || lease >= beats * beat) return;
  yield {
    field,
    rule: `${formatDuration(lease)} is too short for its heartbeat: it must be at least ${beats} × session.heartbeat, which is ${formatDuration(beat)}`,
    cure: `Set it to ${formatDuration(beats * beat)} or more, or session.heartbeat to ${formatDuration(Math.floor(lease / beats))} or less`,
  };
}
