/**
 * Only runs hold locks that engines share: such a lock outlives the process that took it, and so does a run.
 * So a step with such a lock becomes a group of one that holds it. A step over a list becomes a list of
 * groups, and each of them has such a group of one.
 */
import type { Graph, RunStep, TaskStep, UnitStep } from "./graph.ts";
import { reference } from "./template.ts";

type AddGraph = (graph: Graph) => number;

const isShared = ({ locks = [] }: UnitStep): boolean => locks.some(({ database }) => database === true);

/** The step as it is stored in a graph. `add` stores the graph of a group, and returns its number. */
export function sharedStep(step: UnitStep, add: AddGraph): UnitStep {
  if (!isShared(step)) return step;
  if (step.each) return listOfGroups(step, add);
  return step.kind === "run" ? step : groupOfOne(step, add);
}

/** The group holds the locks, those of this store too. So a step that is tried again keeps them. */
function groupOfOne(step: TaskStep, add: AddGraph): RunStep {
  const { locks = [], ...rest } = step;
  const inner: TaskStep = {
    ...rest,
    input: reference({ input: true, path: [] }),
    needs: [],
    when: null,
    mayFail: false,
  };
  return { ...outer(step), locks, graph: add(graphOf(inner)) };
}

const INPUT = "input";
const NAMES = "names";

/** Names of locks may refer to steps outside, so they are part of each group's input. */
function listOfGroups(step: UnitStep, add: AddGraph): RunStep {
  const { locks = [], ...rest } = step;
  const names = locks.flatMap(({ name, namespace }) => [name, namespace]);
  const inner = sharedStep(
    {
      ...rest,
      input: reference({ input: true, path: [INPUT] }),
      each: null,
      needs: [],
      when: null,
      mayFail: false,
      locks: locks.map((lock, index) => ({
        ...lock,
        name: reference({ input: true, path: [NAMES, 2 * index] }),
        namespace: lock.namespace === null ? null : reference({ input: true, path: [NAMES, 2 * index + 1] }),
      })),
    },
    add,
  );
  const input = { [INPUT]: step.input, [NAMES]: names };
  return { ...outer(step), input, graph: add(graphOf(inner)) };
}

const outer = ({ name, input, each, needs, when, priority, mayFail }: UnitStep): Omit<RunStep, "graph"> => ({
  kind: "run",
  name,
  workflow: name,
  group: true,
  input,
  each,
  needs,
  when,
  priority,
  mayFail,
  asks: [],
  timeoutMs: null,
});

const UNBOUNDED = -1;

/** The result of the group is the result of its only step. */
const graphOf = (step: UnitStep): Graph => ({
  workflow: step.name,
  steps: [step],
  output: reference({ step: step.name, path: [] }),
  failFast: false,
  timeoutMs: null,
  gates: step.kind === "run" ? [{ name: "children", limit: UNBOUNDED }] : [],
  group: true,
});
