/** Puts the parts of a worker together. They know the machine, and of each other only what they use. */
import type { Env } from "../../env/env.ts";
import type { Executor } from "../../executor/executor.ts";
import type { Claims } from "../claiming/claims.ts";
import { ClaimKeeper } from "./claim-keeper.ts";
import { Exchanges } from "./exchanges.ts";
import { Holdings } from "./holdings.ts";
import { Journal } from "./journal.ts";
import type { Machine } from "./machine.ts";
import { Marks } from "./marks.ts";
import { Outbox } from "./outbox.ts";
import { AnswerRecovery } from "./recovery.ts";
import { Running } from "./running.ts";
import { SessionKeeper } from "./session-keeper.ts";
import type { Tell } from "./worker-event.ts";
import type { WorkerOptions } from "./worker-options.ts";

export interface Parts {
  readonly holdings: Holdings;
  readonly session: SessionKeeper;
  readonly running: Running;
  readonly claimKeeper: ClaimKeeper;
  readonly exchanges: Exchanges;
  readonly recovery: AnswerRecovery;
}

const MARK_AFTER_MS = 100;

export function assemble(
  claims: Claims,
  executor: Executor,
  env: Env,
  options: WorkerOptions,
  machine: Machine,
): Parts {
  const { slots, mostClaimed, lease, claimLeaseMs } = options;
  const isBounded = mostClaimed !== undefined;
  const tell: Tell = (event) => options.watch?.(event);
  const holdings = new Holdings();
  const outbox = new Outbox(machine);
  const markAfterMs = isBounded ? 0 : (options.markAfterMs ?? MARK_AFTER_MS);
  const marks = new Marks(holdings, env, machine, markAfterMs);
  const session = new SessionKeeper(claims, env, lease, machine, (until) => executor.trustedUntil?.(until));
  const shared = { env, holdings, marks, outbox, session, machine, tell };
  const journal = new Journal(claims, env);
  const running = new Running({ ...shared, executor, journal, answer: options.answer }, claimLeaseMs);
  const exchanges = new Exchanges(
    { ...shared, claims, running },
    {
      slots,
      mostClaimed,
      atOnce: isBounded ? 1 : claims.atOnce,
      blocked: () => executor.blocked?.() ?? 0,
    },
  );
  return {
    holdings,
    session,
    running,
    claimKeeper: new ClaimKeeper(claims, running, env),
    exchanges,
    recovery: new AnswerRecovery({ ...shared, claims, exchanges, running }),
  };
}
