/** Rules for namespaces, and for how many runs the engine and each namespace may have in progress. */
import { namespaceProblem } from "../gate/lock.ts";
import type { AppDefinition } from "./definition.ts";
import { mustKnowFields, NAMESPACE_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { entriesOf, isRecord, mustBeRecord, mustBeWhole } from "./rule.ts";

export function* namespaceProblems(definition: AppDefinition): Problems {
  yield* mustBeNamespace("namespace", definition.namespace);
  yield* mustBeParallel("parallelism", definition.parallelism);
  yield* mustBeParallel("namespaceParallelism", definition.namespaceParallelism);
  const { namespaces } = definition;
  yield* mustBeRecord("namespaces", namespaces, LIKE);
  for (const [name, options] of entriesOf(namespaces)) {
    const field = `namespaces.${name}`;
    yield* mustBeNamespace(field, name);
    yield* mustBeRecord(field, options ?? null, "{ parallelism: 3 }");
    if (!isRecord(options)) continue;
    yield* mustKnowFields(`${field}.`, options, NAMESPACE_FIELDS);
    yield* mustBeParallel(`${field}.parallelism`, options.parallelism);
  }
}

const LIKE = "{ research: { parallelism: 3 } }";

export function* mustBeNamespace(field: string, name: unknown): Problems {
  const rule = name === undefined ? undefined : namespaceProblem(name);
  if (rule) yield { field, rule, cure: 'Use a text without "/", "=" and "*"' };
}

const mustBeParallel = (field: string, parallelism: unknown): Problems =>
  mustBeWhole(
    field,
    parallelism,
    -1,
    "Set how many runs may be in progress at once, or leave it out for no limit",
  );
