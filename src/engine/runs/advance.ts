/** The decision of one look at runs: what core says follows, as rows to write. Nothing is awaited, nothing is kept. */
import { clusterKey, queueKey, runGateKey } from "../../core/gate/key.ts";
import type { Because, RunNow, StepState } from "../../core/run/progress.ts";
import { progress } from "../../core/run/progress.ts";
import type { Graph, GraphStep } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";
import { laneOf } from "../../store/lane.ts";
import type { Advance, Results, RunMove, RunSeen, StepMove, StepSeen } from "../../store/runs.ts";

export interface AdvanceSettings {
  newId(): string;
  /** How long a step may wait for its pools. */
  readonly claimTimeoutMs: number;
}

export function advanceRuns(runs: readonly RunSeen[], results: Results, settings: AdvanceSettings): Advance {
  const read = new Set<string>();
  const moves = runs.flatMap((run): RunMove[] => {
    const answer = readably(run, () => advanceRun(run, results, settings));
    if (!("read" in answer)) return [answer];
    for (const unit of answer.read) read.add(unit);
    return [];
  });
  return read.size > 0 ? { read: [...read].sort() } : { moves };
}

/** One damaged run must not stop all others: it has failed, and says why. */
function readably<T>(run: RunSeen, move: () => T): T | RunMove {
  try {
    return move();
  } catch (error) {
    const message = `The stored graph of this run cannot be read: ${error instanceof Error ? error.message : error}`;
    const body = JSON.stringify({ name: "Error", code: "MALFORMED_RUN", message });
    return {
      run: run.id,
      epoch: run.epoch,
      start: null,
      steps: [],
      enqueue: [],
      finish: { state: "failed", body },
    };
  }
}

function advanceRun(
  run: RunSeen,
  results: Results,
  settings: AdvanceSettings,
): RunMove | { readonly read: readonly string[] } {
  const graph = graphFrom(run.graph);
  const ended = run.steps.filter(({ state, ended: how }) => state === "open" && how !== null);
  const answer = progress(graph, nowOf(run, results));
  if ("wants" in answer) {
    const units = new Map(run.steps.map(({ name, unit }) => [name, unit]));
    return { read: answer.wants.flatMap((step) => units.get(step) ?? []) };
  }
  const opened = answer.open.map(({ step, input }) => ({ step, unit: unitOf(run, step, input, settings) }));
  return {
    run: run.id,
    epoch: run.epoch,
    start: run.started ? null : { gates: gatesOf(run.id, graph), timeoutMs: graph.timeoutMs },
    steps: [
      ...ended.map((step): StepMove => ({ ...bare(step), state: stateOf(step) as StepMove["state"] })),
      ...answer.skip.map(({ step, because }) => skipped(step, because)),
      ...opened.map(
        ({ step, unit }): StepMove => ({ name: step.name, state: "open", unit: unit.id, body: null }),
      ),
    ],
    enqueue: opened.map(({ unit }) => unit),
    finish: answer.finish && {
      state: answer.finish.state,
      body: JSON.stringify(
        answer.finish.state === "succeeded" ? answer.finish.result : failure(answer.finish.steps),
      ),
    },
  };
}

const parsed = new Map<string, Graph>();

/** The same for all runs of a workflow: read once. */
export function graphFrom(text: string): Graph {
  const known = parsed.get(text);
  if (known) return known;
  const graph = JSON.parse(text) as Graph;
  if (parsed.size > 200) parsed.clear();
  parsed.set(text, graph);
  return graph;
}

function nowOf(run: RunSeen, results: Results): RunNow {
  const outputs = new Map<string, Json>();
  for (const { name, unit } of run.steps) {
    if (unit !== null && results.has(unit)) outputs.set(name, parse(results.get(unit) ?? null));
  }
  return {
    input: parse(run.input),
    steps: new Map(run.steps.map((step) => [step.name, stateOf(step)])),
    outputs,
  };
}

const parse = (text: string | null): Json =>
  text === null || text === "" ? null : (JSON.parse(text) as Json);

function stateOf({ state, ended }: StepSeen): StepState {
  if (state !== "open" || ended === null) return state;
  return ended === "succeeded" || ended === "cancelled" ? ended : "failed";
}

const bare = ({ name, unit, body }: StepSeen) => ({ name, unit, body });

const skipped = (name: string, because: Because): StepMove => ({
  name,
  state: "skipped",
  unit: null,
  body: JSON.stringify(because),
});

const gatesOf = (run: string, graph: Graph) =>
  graph.gates.map(({ name, limit }) => ({ key: runGateKey(run, name), limit }));

function unitOf(
  run: RunSeen,
  step: GraphStep,
  input: Json | undefined,
  { newId, claimTimeoutMs }: AdvanceSettings,
) {
  const asks = [
    { gate: clusterKey, slots: 1 },
    { gate: queueKey(step.queue), slots: 1 },
    { gate: runGateKey(run.id, step.gate), slots: 1 },
    ...step.asks.map(([gate, slots]) => ({ gate, slots })),
  ];
  return {
    id: newId(),
    name: step.task,
    priority: step.priority ?? run.priority,
    lane: laneOf(step.queue, step.task, asks),
    // As an enqueue writes it: no value at all is an empty text.
    input: JSON.stringify(input) ?? "",
    options: JSON.stringify({
      retry: step.retry,
      timeoutMs: step.timeoutMs,
      step: { run: run.id, name: step.name },
      ...(step.gate === "pods" ? { pod: step.pod } : {}),
      ...(step.gate === "workers" ? { cpu: true } : {}),
    }),
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    step: step.name,
    claimTimeoutMs: step.asks.length > 0 ? claimTimeoutMs : null,
  };
}

const failure = (steps: readonly string[]): Json => ({
  name: "StepsFailed",
  code: "STEPS_FAILED",
  message: `${steps.length === 1 ? "Step" : "Steps"} ${steps.join(", ")} did not succeed.`,
  steps,
});
