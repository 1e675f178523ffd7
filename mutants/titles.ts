/** Whether a test file has a test of this name, as far as its text tells. */
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync, Visitor } from "vite";

/** The files are read from the tree under `inTree`, each once. */
export class TestFiles {
  readonly #inTree: (path: string) => string;
  readonly #known = new Map<string, TestText>();

  constructor(inTree: (path: string) => string) {
    this.#inTree = inTree;
  }

  /** Whether such a test may be in the file, or in the suites and set-ups that it imports. */
  mayHave(file: string, test: string): boolean {
    return mayBeNamed(
      this.#reached(file).flatMap(({ pieces }) => pieces),
      test,
    );
  }

  #reached(file: string, seen = new Set<string>()): TestText[] {
    if (seen.has(file) || !existsSync(this.#inTree(file))) return [];
    seen.add(file);
    const own = this.#known.get(file) ?? textOf(file, readFileSync(this.#inTree(file), "utf8"));
    this.#known.set(file, own);
    const next = own.imports
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => posix.join(posix.dirname(file), specifier))
      .filter((path) => path.startsWith("test/") || path.startsWith("src/testing/"));
    return [own, ...next.flatMap((path) => this.#reached(path, seen))];
  }
}

interface TestText {
  /** All values and names of properties, cut where a template or a table puts something in. */
  readonly pieces: readonly string[];
  readonly imports: readonly string[];
}

/** Where a table puts a value into a title. */
const PLACE = /%[sdifjop#]|\$\w+/;

export function textOf(path: string, text: string): TestText {
  const pieces: string[] = [];
  const imports: string[] = [];
  const add = (text: string): void => void pieces.push(...text.split(PLACE).map((piece) => piece.trim()));
  new Visitor({
    ImportDeclaration: ({ source }) => void imports.push(source.value),
    Property: ({ key }) => void (key.type === "Identifier" && add(key.name)),
    Literal: ({ value }) => add(String(value)),
    TemplateElement: ({ value }) => add(value.cooked ?? ""),
  }).visit(parseSync(path, text).program);
  return { pieces: pieces.filter((piece) => piece !== ""), imports };
}

/**
 * A name is put together from the titles of lists and tests and the values in them, so its part is in one piece,
 * or begins with the end of one, goes on with whole ones, and ends with the beginning of one.
 */
export function mayBeNamed(pieces: readonly string[], part: string): boolean {
  if (pieces.some((piece) => piece.includes(part))) return true;
  const goesOn = (rest: string): boolean =>
    pieces.some(
      (piece) =>
        piece.startsWith(rest) || (rest.startsWith(`${piece} `) && goesOn(rest.slice(piece.length + 1))),
    );
  return cutsOf(part).some(
    ([head, rest]) => pieces.some((piece) => piece === head || piece.endsWith(` ${head}`)) && goesOn(rest),
  );
}

/** In two between any two words. */
function cutsOf(text: string): [head: string, rest: string][] {
  const words = text.split(" ");
  return words.slice(1).map((_, index) => {
    return [words.slice(0, index + 1).join(" "), words.slice(index + 1).join(" ")];
  });
}
