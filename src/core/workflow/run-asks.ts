/** What a run of a workflow asks for, and its tags. */
import { asksFor } from "../gate/asks.ts";
import type { Ask } from "../gate/gate.ts";
import { runsKey, tagKey } from "../gate/key.ts";
import type { Lock } from "../gate/lock.ts";
import type { AnyWorkflow } from "./definition.ts";

/** A run's tags: those of its workflow and those of its submission. The submission wins. */
export function runTags(
  workflow: AnyWorkflow,
  tags: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return { ...workflow.tags, ...tags };
}

/** The caps of all runs and of its tags. */
export function capsOfRun(workflow: AnyWorkflow, tags: Readonly<Record<string, string>> = {}): Ask[] {
  const ofTags = Object.entries(runTags(workflow, tags)).flatMap(([key, value]) => [
    { gate: tagKey(key), slots: 1 },
    { gate: tagKey(key, value), slots: 1 },
  ]);
  return [{ gate: runsKey, slots: 1 }, ...ofTags];
}

/** What the run of a workflow is about to hold. */
interface Holding {
  readonly tags?: Readonly<Record<string, string>>;
  readonly locks: readonly Lock[];
  readonly namespace: string;
}

/** The slots that a run asks for before it starts, and holds until it ends. */
export function runAsks(workflow: AnyWorkflow, { tags, locks, namespace }: Holding): Ask[] {
  return [...capsOfRun(workflow, tags), ...asksFor({ pools: workflow.pools, locks }, namespace)];
}
