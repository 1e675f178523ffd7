// The imports of a file: by name, by namespace, lazily and in types.

import type { ESTree } from "vite";
import { Visitor } from "vite";

/** A statement or expression that names another file. */
export interface Taken {
  readonly specifier: string;
  /** The imported names. "*" means everything. Empty if names are only re-exported. */
  readonly names: readonly string[];
  /** True if nothing of the import remains at run time. */
  readonly typeOnly: boolean;
}

/** The imports of a top-level statement. */
export function taken(statement: ESTree.Program["body"][number], program: ESTree.Program): Taken[] {
  switch (statement.type) {
    case "ImportDeclaration":
      return [
        {
          specifier: statement.source.value,
          names: statement.specifiers.flatMap((one) => namesOf(one, program)),
          typeOnly: statement.importKind === "type",
        },
      ];
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      if (!statement.source) return [];
      return [{ specifier: statement.source.value, names: [], typeOnly: statement.exportKind === "type" }];
    default:
      return [];
  }
}

/** The imports inside of expressions and types. */
export function lazilyTaken(program: ESTree.Program): Taken[] {
  const found: Taken[] = [];
  const known = new Set<ESTree.Node>();
  new Visitor({
    // (await import("./a.ts")).b imports only b.
    MemberExpression: ({ object, property }) => {
      if (object.type !== "AwaitExpression" || object.argument.type !== "ImportExpression") return;
      known.add(object.argument);
      const specifier = literal(object.argument.source);
      const names = [property.type === "Identifier" ? property.name : "*"];
      if (specifier !== undefined) found.push({ specifier, names, typeOnly: false });
    },
    ImportExpression: (node) => {
      const specifier = literal(node.source);
      if (specifier !== undefined && !known.has(node))
        found.push({ specifier, names: ["*"], typeOnly: false });
    },
    TSImportType: ({ source, qualifier }) => {
      const name = qualifier?.type === "Identifier" ? qualifier.name : "*";
      found.push({ specifier: source.value, names: [name], typeOnly: true });
    },
  }).visit(program);
  return found;
}

export function nameOf(name: ESTree.ModuleExportName): string {
  return name.type === "Literal" ? name.value : name.name;
}

function namesOf(one: ESTree.ImportDeclarationSpecifier, program: ESTree.Program): string[] {
  if (one.type === "ImportSpecifier") return [nameOf(one.imported)];
  if (one.type === "ImportDefaultSpecifier") return ["default"];
  return membersOf(one.local.name, program);
}

/** The members read from a namespace, or "*" if it is passed on as a whole. */
function membersOf(namespace: string, program: ESTree.Program): string[] {
  const names = new Set<string>();
  // The import itself counts as one mention.
  let mentions = -1;
  new Visitor({
    Identifier: ({ name }) => {
      if (name === namespace) mentions++;
    },
    MemberExpression: ({ object, property }) => {
      if (object.type !== "Identifier" || object.name !== namespace || property.type !== "Identifier") return;
      names.add(property.name);
      mentions--;
    },
    TSQualifiedName: ({ left, right }) => {
      if (left.type !== "Identifier" || left.name !== namespace) return;
      names.add(right.name);
      mentions--;
    },
  }).visit(program);
  return mentions > 0 ? ["*"] : [...names];
}

function literal(node: ESTree.Expression): string | undefined {
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
