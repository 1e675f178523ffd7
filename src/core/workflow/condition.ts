/**
 * Conditions are data, so any process that moves a run on can decide them, with or without the code that
 * wrote them.
 */
import type { Json, Template, Values } from "./template.ts";
import { render, stepsNamedIn } from "./template.ts";

export type Condition =
  | { readonly is: "true"; readonly value: Template }
  | { readonly is: "equal" | "less" | "greater"; readonly left: Template; readonly right: Template }
  | { readonly is: "not"; readonly condition: Condition }
  | { readonly is: "all" | "any"; readonly conditions: readonly Condition[] };

export function holds(condition: Condition, values: Values): boolean {
  switch (condition.is) {
    case "true":
      return isTrue(render(condition.value, values));
    case "equal":
      return same(render(condition.left, values), render(condition.right, values));
    case "less":
      return isLess(render(condition.left, values), render(condition.right, values));
    case "greater":
      return isLess(render(condition.right, values), render(condition.left, values));
    case "not":
      return !holds(condition.condition, values);
    case "all":
      return condition.conditions.every((each) => holds(each, values));
    case "any":
      return condition.conditions.some((each) => holds(each, values));
  }
}

/** The steps whose outputs the condition reads. */
export function stepsIn(condition: Condition): string[] {
  return templatesOf(condition).flatMap(stepsNamedIn);
}

/** The templates that the condition compares. */
export function templatesOf(condition: Condition): Template[] {
  switch (condition.is) {
    case "true":
      return [condition.value];
    case "not":
      return templatesOf(condition.condition);
    case "all":
    case "any":
      return condition.conditions.flatMap(templatesOf);
    default:
      return [condition.left, condition.right];
  }
}

/** Truthiness as in JavaScript, except that an empty list is false. */
const isTrue = (value: Json): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));

/** Only values of the same type have an order. */
function isLess(left: Json, right: Json): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  return typeof left === "string" && typeof right === "string" && left < right;
}

function same(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [a, b] = [left, right] as Readonly<Record<string, Json>>[];
  const keys = Object.keys(a as object);
  if (keys.length !== Object.keys(b as object).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b as object, key) &&
      same((a as Record<string, Json>)[key] as Json, (b as Record<string, Json>)[key] as Json),
  );
}
