/** A step must wait for every step it refers to, and it may refer only to values that can exist. */
import { unknownAmong } from "../app/near.ts";
import type { Problems } from "../app/rule.ts";
import { templatesOf } from "./condition.ts";
import type { RenderedItem } from "./each.ts";
import { listsIn, namesIn, templatesIn } from "./each.ts";
import type { GraphStep } from "./graph.ts";
import type { Source, Template } from "./template.ts";
import { sourcesIn } from "./template.ts";

export type StepShape = Pick<GraphStep, "name" | "needs" | "when"> & RenderedItem;

/** The steps of the workflow, and whether each goes over a list. */
export type Known = ReadonlyMap<string, { readonly isEach: boolean }>;

export function* needProblems(step: StepShape, known: Known): Problems {
  const field = `steps.${step.name}`;
  const ways = new Map<string, string>();
  for (const { step: name, on } of step.needs) {
    yield* mustBeStep(`${field}.needs`, name, known);
    const other = ways.get(name);
    ways.set(name, on);
    if (other !== undefined)
      yield {
        field: `${field}.needs`,
        rule: `step "${name}" cannot have ${other} and ${on}`,
        cure: "Say only once how it must have ended; finished accepts any ending",
      };
  }
  const sources = [...templatesIn(step), ...(step.when ? templatesOf(step.when) : [])].flatMap(sourcesIn);
  for (const name of new Set(sources.flatMap(stepOf))) yield* wayProblems(field, name, ways.get(name), known);
  yield* outcomeProblems(field, sources, known);
  yield* failedProblems(field, sources, ways);
  yield* itemProblems(field, step);
}

/** The result of a run may refer to any step. */
export function* resultProblems(output: Template, known: Known): Problems {
  const sources = sourcesIn(output);
  for (const name of new Set(sources.flatMap(stepOf))) yield* mustBeStep("output", name, known);
  yield* outcomeProblems("output", sources, known);
  if (sources.some(isItem)) yield outsideOfItems("output");
}

function* wayProblems(field: string, name: string, way: string | undefined, known: Known): Problems {
  if (way !== undefined) return;
  yield* mustBeStep(field, name, known);
  if (known.has(name))
    yield {
      field: `${field}.needs`,
      rule: `refers to step "${name}" without waiting for it`,
      cure: `Add it to the step's after`,
    };
}

function* outcomeProblems(field: string, sources: readonly Source[], known: Known): Problems {
  const named = sources.flatMap((source) => ("outcomes" in source ? [source.outcomes] : []));
  for (const name of new Set(named))
    if (known.get(name)?.isEach === false)
      yield {
        field,
        rule: `refers to the outcomes of step "${name}", which is not a step over a list`,
        cure: `Write ${name}.output`,
      };
}

/** `outcomes` are exempt: they can be read whether the step failed or not. */
function* failedProblems(
  field: string,
  sources: readonly Source[],
  ways: ReadonlyMap<string, string>,
): Problems {
  const named = sources.flatMap((source) => ("step" in source ? [source.step] : []));
  for (const name of new Set(named))
    if (ways.get(name) === "failed")
      yield {
        field,
        rule: `refers to the output of step "${name}", which has none if it failed`,
        cure: `Leave that out, or come after ${name}.finished`,
      };
}

/** An item is known only in the input of a step over a list. */
function* itemProblems(field: string, { each, when, ...step }: StepShape): Problems {
  const elsewhere = [
    ...(each ? [...listsIn(each.items), each.concurrency ?? null, ...namesIn(step)] : templatesIn(step)),
    ...(when ? templatesOf(when) : []),
  ];
  if (elsewhere.flatMap(sourcesIn).some(isItem)) yield outsideOfItems(field);
}

const outsideOfItems = (field: string) => ({
  field,
  rule: "refers to an item of a list outside the items' own input",
  cure: "Use it only in the input of a step over a list",
});

const isItem = (source: Source): boolean => "item" in source;

function stepOf(source: Source): string[] {
  if ("step" in source) return [source.step];
  return "outcomes" in source ? [source.outcomes] : [];
}

function* mustBeStep(field: string, step: string, known: Known): Problems {
  if (known.has(step)) return;
  const rule = `there is no step "${step}"${unknownAmong(step, [...known.keys()])}`;
  yield { field, rule, cure: "Name a step of this workflow" };
}
