/** A look at an automation: it starts a run if the workflows that it watches have succeeded as it requires. */
import { createHash } from "node:crypto";
import type { Acted, Success } from "../../core/schedule/automation.ts";
import { toActOn } from "../../core/schedule/automation.ts";
import type { AutomationState } from "../../core/schedule/state.ts";
import type { AppAutomation, AutomationSpec } from "../../core/schedule/trigger.ts";
import type { Look, TriggerDecision } from "./decision.ts";
import { optionsOf, stillDue } from "./decision.ts";

export async function lookAtAutomation(look: Look, automation: AppAutomation): Promise<TriggerDecision> {
  const { store, toRun, row, now } = look;
  const { when } = JSON.parse(row.spec) as AutomationSpec;
  const { workflow } = automation;
  const state = JSON.parse(row.state) as AutomationState;
  // Its first look was due at the moment it was declared.
  const acted: Acted = state.acted ?? { since: row.nextAt ?? now, seen: {}, run: null };
  const successes = await store.lastSuccesses([...when.of, workflow]);
  const found = toActOn(workflow, when, new Map(successes.map((each) => [each.workflow, each])), acted);
  const isTime = found.length > 0 && (when.kind === "succeeded" || (await isIdle(look, workflow)));
  if (!isTime) return row.nextAt === null ? undefined : fromNowOn(state, acted);
  try {
    const run = await toRun(workflow, automation.input, optionsOf(automation, cursorOf(found)));
    const seen = { ...acted.seen, ...Object.fromEntries(found.map((each) => [each.workflow, each.run])) };
    const after: AutomationState = {
      lastRun: run.id,
      lastRunAt: now,
      acted: { ...acted, seen, run: run.id },
    };
    return { state: JSON.stringify(after), nextAt: null, submit: [run] };
  } catch (error) {
    return stillDue(look, error);
  }
}

async function isIdle({ store }: Look, workflow: string): Promise<boolean> {
  const { queued, inProgress } = await store.activeRuns({ workflow });
  return !queued && !inProgress;
}

/** The first look, or the first after a change. From now on it is looked at with every poll. */
const fromNowOn = (state: AutomationState, acted: Acted): TriggerDecision => ({
  state: JSON.stringify({ ...state, acted }),
  nextAt: null,
  submit: [],
});

/** A short name for the successes it acts on: the same successes give the same run. */
function cursorOf(found: readonly Success[]): string {
  const pairs = found.map(({ workflow, run }) => [workflow, run]);
  return createHash("sha256").update(JSON.stringify(pairs)).digest("base64url").slice(0, 22);
}
