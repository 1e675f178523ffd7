// The exports and imports of one TypeScript file, read from the syntax tree of vite's parser.

import type { ESTree } from "vite";
import { parseSync } from "vite";
import type { SourceFile } from "../rooms.ts";
import { lineAt } from "../source-text.ts";
import type { Taken } from "./taken.ts";
import { lazilyTaken, nameOf, taken } from "./taken.ts";

/** A file with its imports and exports. */
export interface Module extends SourceFile {
  readonly program: ESTree.Program;
  readonly imports: readonly Taken[];
  readonly exports: readonly Given[];
  /** The files of `export * from`. */
  readonly stars: readonly string[];
  /** The names of interfaces, type aliases, classes and enums at the top of the file. */
  readonly types: ReadonlySet<string>;
}

/** A name that other files can import. */
export interface Given {
  readonly name: string;
  readonly line: number;
  /** Its name in the file that it comes from. */
  readonly local: string;
  /** The file it is re-exported from. Undefined if it is declared here. */
  readonly from: string | undefined;
}

type Statement = ESTree.Program["body"][number];

export function readModule({ path, text }: SourceFile): Module {
  const { program, errors } = parseSync(path, text, { preserveParens: false });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const imported = importedNames(program);
  const exports = program.body.flatMap((statement) =>
    givenBy(statement).map(({ node, ...given }) => {
      const line = lineAt(text, node.start);
      const passedOn = given.from === undefined ? imported.get(given.local) : undefined;
      return { ...given, ...passedOn, line };
    }),
  );
  return {
    path,
    text,
    program,
    imports: [...program.body.flatMap((statement) => taken(statement, program)), ...lazilyTaken(program)],
    exports,
    stars: program.body.flatMap((statement) =>
      statement.type === "ExportAllDeclaration" && !statement.exported ? [statement.source.value] : [],
    ),
    types: new Set(program.body.flatMap(typesOf)),
  };
}

/** A test is not published, and its functions may be as long as the list of what they check. */
export function isTest({ path }: SourceFile): boolean {
  return path.endsWith(".test.ts");
}

/** Where the names of this file were imported from, for `import { a } from "b"; export { a };`. */
function importedNames(program: ESTree.Program): Map<string, { local: string; from: string }> {
  const names = new Map<string, { local: string; from: string }>();
  for (const statement of program.body) {
    if (statement.type !== "ImportDeclaration") continue;
    for (const one of statement.specifiers) {
      if (one.type !== "ImportSpecifier") continue;
      names.set(one.local.name, { local: nameOf(one.imported), from: statement.source.value });
    }
  }
  return names;
}

interface Gift {
  readonly name: string;
  readonly local: string;
  readonly from: string | undefined;
  readonly node: { readonly start: number };
}

function givenBy(statement: Statement): Gift[] {
  if (statement.type === "ExportDefaultDeclaration")
    return [{ name: "default", local: "default", from: undefined, node: statement }];
  if (statement.type === "ExportAllDeclaration" && statement.exported)
    return [{ name: nameOf(statement.exported), local: "*", from: statement.source.value, node: statement }];
  if (statement.type !== "ExportNamedDeclaration") return [];
  const from = statement.source?.value;
  const listed = statement.specifiers.map((node) => ({
    name: nameOf(node.exported),
    local: nameOf(node.local),
    from,
    node,
  }));
  const own = statement.declaration ? declared(statement.declaration) : [];
  return [...listed, ...own.map((name) => ({ name, local: name, from: undefined, node: statement }))];
}

function declared(node: ESTree.Declaration): string[] {
  if (node.type !== "VariableDeclaration")
    return "id" in node && node.id && "name" in node.id ? [node.id.name] : [];
  return node.declarations.flatMap(({ id }) => boundBy(id));
}

/** The names of `const a`, `const { a, b: c }` and `const [a]`. */
function boundBy(id: ESTree.BindingPattern): string[] {
  if (id.type === "Identifier") return [id.name];
  if (id.type === "AssignmentPattern") return boundBy(id.left);
  if (id.type === "ArrayPattern")
    return id.elements.flatMap((element) =>
      element && element.type !== "RestElement" ? boundBy(element) : [],
    );
  return id.properties.flatMap((property) =>
    property.type === "RestElement" ? boundBy(property.argument) : boundBy(property.value),
  );
}

function typesOf(statement: Statement): string[] {
  const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  switch (node?.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSEnumDeclaration":
    case "ClassDeclaration":
      return node.id ? [node.id.name] : [];
    default:
      return [];
  }
}
