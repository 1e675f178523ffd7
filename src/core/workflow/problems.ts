/**
 * What is wrong with the shape of a graph, wherever it comes from: a workflow that was just written, or a run read back
 * from a store. A graph without problems can be walked to its end.
 */
import { unknownAmong } from "../app/near.ts";
import type { Problems } from "../app/rule.ts";
import { mustBeName } from "../app/rule.ts";
import type { Problem } from "../error.ts";
import { stepsIn } from "./condition.ts";
import { cyclesIn } from "./cycle.ts";
import type { Graph, GraphStep } from "./graph.ts";
import type { Template } from "./template.ts";
import { stepsNamedIn } from "./template.ts";

type StepShape = Pick<GraphStep, "name" | "input" | "needs" | "when">;

/** What a plan and a graph have in common. */
export interface Shape {
  readonly steps: readonly StepShape[];
  readonly output: Template;
}

export function graphProblems(graph: Graph): Problem[] {
  return [...shapeProblems(graph), ...gateProblems(graph)];
}

export function* shapeProblems({ steps, output }: Shape): Problems {
  if (steps.length === 0)
    yield {
      field: "steps",
      rule: "there is none",
      cure: "Make at least one, like s.step(name, task, input)",
    };
  const names = new Set(steps.map(({ name }) => name));
  yield* nameProblems(steps);
  for (const step of steps) yield* needProblems(step, names);
  for (const name of stepsNamedIn(output)) yield* mustBeStep("output", name, names);
  for (const cycle of cyclesIn(steps))
    yield {
      field: `steps.${cycle[0]}.needs`,
      rule: `these steps wait for each other: ${[...cycle, cycle[0]].join(" → ")}`,
      cure: "Let one of them start without the others",
    };
}

function* nameProblems(steps: readonly StepShape[]): Problems {
  const firstWith = new Map<string, number>();
  for (const [index, { name }] of steps.entries()) {
    const field = `steps[${index}]`;
    yield* mustBeName(field, name, "a step's name");
    if (String(name).includes("/"))
      yield { field, rule: `"${name}" cannot be a step's name`, cure: "Use letters, digits and . _ - only" };
    const first = firstWith.get(name);
    if (first === undefined) firstWith.set(name, index);
    else
      yield {
        field,
        rule: `"${name}" is the name of steps[${first}] already`,
        cure: "Give each step a name of its own",
      };
  }
}

function* needProblems({ name, input, needs, when }: StepShape, names: ReadonlySet<string>): Problems {
  const field = `steps.${name}`;
  const ways = new Map<string, string>();
  for (const { step, on } of needs) {
    yield* mustBeStep(`${field}.needs`, step, names);
    const other = ways.get(step);
    ways.set(step, on);
    if (other !== undefined)
      yield {
        field: `${field}.needs`,
        rule: `step "${step}" cannot have ${other} and ${on}`,
        cure: "Say once how it must have ended; finished means in whatever way",
      };
  }
  const referred = [...stepsNamedIn(input), ...(when ? stepsIn(when) : [])];
  for (const step of new Set(referred)) yield* outputProblems(field, step, ways.get(step), names);
}

function* outputProblems(
  field: string,
  step: string,
  way: string | undefined,
  names: ReadonlySet<string>,
): Problems {
  if (way === undefined) {
    yield* mustBeStep(field, step, names);
    if (names.has(step))
      yield {
        field: `${field}.needs`,
        rule: `refers to step "${step}" without waiting for it`,
        cure: `Add it to what the step comes after`,
      };
  }
  if (way === "failed")
    yield {
      field,
      rule: `refers to the output of step "${step}", which has none when it failed`,
      cure: `Leave that out, or come after ${step}.finished`,
    };
}

function* mustBeStep(field: string, step: string, names: ReadonlySet<string>): Problems {
  if (names.has(step)) return;
  const rule = `there is no step "${step}"${unknownAmong(step, [...names])}`;
  yield { field, rule, cure: "Name a step of this workflow" };
}

/** A step that asks a gate which its run does not have would wait for ever. */
function* gateProblems({ gates, steps }: Graph): Problems {
  const names = gates.map(({ name }) => name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) < index)))
    yield { field: "gates", rule: `"${name}" is there more than once`, cure: "Keep one of them" };
  for (const { name, gate, pod } of steps) {
    if (!names.includes(gate))
      yield { field: `steps.${name}.gate`, rule: `the run has no gate "${gate}"`, cure: "Add it to gates" };
    if (gate === "pods" && pod === null)
      yield { field: `steps.${name}.pod`, rule: "must be set for a step in a pod", cure: "Name its image" };
  }
}
