/**
 * Problems with the shape of a graph, whether it is a new workflow or a run read back from a store. A graph
 * without problems can be walked to its end.
 */
import type { Problems } from "../app/rule.ts";
import { mustBeName } from "../app/rule.ts";
import type { Problem } from "../error.ts";
import { cyclesIn } from "./cycle.ts";
import type { Graph } from "./graph.ts";
import type { Known, StepShape } from "./needs.ts";
import { needProblems, resultProblems } from "./needs.ts";
import type { Template } from "./template.ts";

/** The common shape of a plan and a graph. */
interface Shape {
  readonly steps: readonly StepShape[];
  readonly output: Template;
}

export function graphProblems(graph: Graph): Problem[] {
  return [...shapeProblems(graph), ...gateProblems(graph)];
}

export function* shapeProblems({ steps, output }: Shape, what = "workflow"): Problems {
  if (steps.length === 0)
    yield {
      field: "steps",
      rule: `the ${what} has no steps`,
      cure: "Add at least one, like s.step(name, task, input)",
    };
  const known: Known = new Map(steps.map(({ name, each }) => [name, { isEach: Boolean(each) }]));
  yield* nameProblems(steps);
  for (const step of steps) yield* needProblems(step, known);
  yield* resultProblems(output, known);
  for (const cycle of cyclesIn(steps))
    yield {
      field: `steps.${cycle[0]}.needs`,
      rule: `these steps wait for each other: ${[...cycle, cycle[0]].join(" → ")}`,
      cure: "Let one of them start without the others",
    };
}

/** A slash separates the steps of a path. */
const ALLOWED = "Use only letters, digits and . _ -";

function* nameProblems(steps: readonly StepShape[]): Problems {
  const firstWith = new Map<string, number>();
  for (const [index, { name }] of steps.entries()) {
    const field = `steps[${index}]`;
    yield* mustBeName(field, name, "a step's name", ALLOWED);
    if (String(name).includes("/")) yield { field, rule: `"${name}" cannot be a step's name`, cure: ALLOWED };
    const first = firstWith.get(name);
    if (first === undefined) firstWith.set(name, index);
    else
      yield {
        field,
        rule: `"${name}" is already the name of steps[${first}]`,
        cure: "Give each step its own name",
      };
  }
}

/** A step that asks for a gate that its run does not have would wait forever. */
function* gateProblems({ gates, steps }: Graph): Problems {
  const names: readonly string[] = gates.map(({ name }) => name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) < index)))
    yield { field: "gates", rule: `"${name}" is listed more than once`, cure: "Keep one of them" };
  for (const step of steps) {
    if (step.kind !== undefined) continue;
    const { name, gate, pod } = step;
    if (!names.includes(gate))
      yield { field: `steps.${name}.gate`, rule: `the run has no gate "${gate}"`, cure: "Add it to gates" };
    if (gate === "pods" && pod === null)
      yield { field: `steps.${name}.pod`, rule: "must be set for a step in a pod", cure: "Name its image" };
  }
}
