// Rules about the length of files and functions, and the casts in a file.

import type { ESTree } from "vite";
import { Visitor } from "vite";
import { lineAt } from "../source-text.ts";
import type { Module } from "./module.ts";

const MOST_LINES = 400;
const MOST_LINES_OF_A_FUNCTION = 70;

export function longFiles(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split("\n").length;
    return lines > MOST_LINES ? [`${path}: ${lines} lines, more than ${MOST_LINES}`] : [];
  });
}

export function longFunctions(modules: readonly Module[]): string[] {
  return modules.flatMap((module) => {
    const found: string[] = [];
    const look = (node: ESTree.Function | ESTree.ArrowFunctionExpression): void => {
      const { start, end } = node;
      const first = lineAt(module.text, start);
      const lines = lineAt(module.text, end) - first + 1;
      if (lines <= MOST_LINES_OF_A_FUNCTION || isSuiteTable(module.path, node)) return;
      const words = module.text.split("\n")[first - 1]?.trim();
      found.push(`${module.path}:${first}: ${lines} lines, more than ${MOST_LINES_OF_A_FUNCTION}: ${words}`);
    };
    new Visitor({
      FunctionDeclaration: look,
      FunctionExpression: look,
      ArrowFunctionExpression: look,
    }).visit(module.program);
    return found;
  });
}

/** Every `as` that could be wrong. `as const` and renamed imports assert nothing about a type. */
export function casts({ path, text, program }: Module): string[] {
  const found: string[] = [];
  const note = ({ start, typeAnnotation }: ESTree.TSAsExpression | ESTree.TSTypeAssertion): void => {
    const type = text.slice(typeAnnotation.start, typeAnnotation.end);
    if (type !== "const") found.push(`${path}:${lineAt(text, start)}: as ${type.replace(/\s+/g, " ")}`);
  };
  new Visitor({ TSAsExpression: note, TSTypeAssertion: note }).visit(program);
  return found;
}

/**
 * A function that lists tests is as long as the list, so in src/testing it does not count. Each test in it
 * does.
 */
function isSuiteTable(path: string, { body }: ESTree.Function | ESTree.ArrowFunctionExpression): boolean {
  if (!path.startsWith("src/testing/") || body?.type !== "BlockStatement") return false;
  return body.body.some(
    (statement) => statement.type === "ExpressionStatement" && declaresTests(statement.expression),
  );
}

/** `test(…)`, `test.each(…)(…)`, `describe(…)`. */
function declaresTests(node: ESTree.Expression | ESTree.Super): boolean {
  if (node.type === "CallExpression") return declaresTests(node.callee);
  if (node.type === "MemberExpression") return declaresTests(node.object);
  return node.type === "Identifier" && ["describe", "it", "test"].includes(node.name);
}
