/** One trial on one store with one seed: disturb, take the store away, heal, inspect, judge. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TRIGGERS } from "./app/limits.ts";
import { readAudit } from "./audit/read.ts";
import { backlog, readTables } from "./audit/tables.ts";
import { lateOrphans } from "./check/orphans.ts";
import type { Outage } from "./check/outage.ts";
import type { Healing } from "./check/quiescence.ts";
import type { Owed } from "./check/ticks.ts";
import { command } from "./crew/product.ts";
import { resetLimits } from "./fault/limits.ts";
import { carryOut } from "./fault/nemesis.ts";
import { outage } from "./fault/outage.ts";
import type { Verdict } from "./judge.ts";
import { judge } from "./judge.ts";
import type { Plan } from "./plan.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { openStage } from "./stage.ts";
import { fillLimits, makeUp } from "./whole.ts";
import { readWitness } from "./witness-log.ts";

export interface Trial extends StageOptions {
  readonly plan: Plan;
  readonly outageMs: number;
  /** How long everything may take to end after healing. */
  readonly healingMs: number;
  say(what: string): void;
}

export async function hold(trial: Trial): Promise<Verdict> {
  const { plan, seed, outageMs, say } = trial;
  say("starting");
  const stage = await openStage(trial);
  try {
    await stage.crew.allUp();
    const from = Date.now();
    if (trial.opens) await fillLimits(trial, stage);
    say(`${plan.faults.length} faults in ${Math.round(plan.lastsMs / 1_000)}s`);
    await carryOut(plan, stage, seed);
    if (trial.isWhole) await makeUp(trial, stage);
    await resetLimits(stage);
    let away: Outage | undefined;
    if (outageMs > 0) {
      say(`the store is away for ${outageMs / 1_000}s`);
      away = await outage(outageMs, stage);
    }
    say("healing");
    await stage.feeder.end();
    const owed = { from, to: await untilMadeUp(stage) };
    await pauseTriggers(stage);
    const healing = await heal(stage, trial.healingMs);
    await stage.crew.close();
    return await judged(trial, stage, { healing, away, owed });
  } finally {
    await stage.close();
  }
}

const MADE_UP_MS = 30_000;

/** Waits until the schedules owe no more runs, or for 30 seconds at most. Returns that time. */
async function untilMadeUp({ place }: Stage): Promise<number> {
  for (const until = Date.now() + MADE_UP_MS; ; await sleep(100)) {
    const now = Date.now();
    const late = await place.sql(
      `SELECT name FROM sluice_trigger WHERE kind = 'schedule' AND next_at <= ${now}`,
    );
    if (late.length === 0 || now > until) return now;
  }
}

/** Stops the triggers from starting runs, or there would always be something to do. */
async function pauseTriggers({ product, place }: Stage): Promise<void> {
  for (const id of TRIGGERS) await command(product, ["schedules", "pause", id, "--store", place.url]);
}

async function heal({ place, crew }: Stage, boundMs: number): Promise<Healing> {
  const from = Date.now();
  for (;;) {
    const left = await backlog(place);
    const tookMs = Date.now() - from;
    // The last look at a run that is over comes a moment after its last step.
    const idle = left.waiting + left.later + left.running + left.news === 0;
    if (idle || tookMs > boundMs) {
      await crew.allUp();
      const openTransactions = await place.openTransactions();
      const words = `${left.waiting} waiting, ${left.later} later, ${left.running} running, ${left.news} news of runs`;
      return { tookMs: idle ? tookMs : undefined, boundMs, left: words, openTransactions };
    }
    await sleep(100);
  }
}

async function judged(
  trial: Trial,
  stage: Stage,
  found: { readonly healing: Healing; readonly away: Outage | undefined; readonly owed: Owed },
): Promise<Verdict> {
  const { place, crew, feeder, witness, poller, ear, done } = stage;
  await poller.stop();
  const tables = await readTables(place);
  const audit = await readAudit(place);
  await witness.end();
  if (place.serverLog) cpSync(place.serverLog, join(trial.folder, "server.log"));
  return judge({
    store: trial.store,
    folder: trial.folder,
    audit,
    tables,
    ...readWitness(witness.log),
    snapshots: poller.snapshots,
    impairments: [...crew.impairments, ...ear.noise],
    stopped: crew.stopped,
    crashed: [...crew.crashed(), ...lateOrphans(crew.orphans, ear.noise)],
    acked: feeder.read(),
    ordered: feeder.ordered(),
    cancelled: stage.cancelled,
    ...found,
    done,
  });
}
