// Reads a TypeScript file just far enough to tell code, comments and literals apart. TypeScript 7 has no
// stable compiler API in JavaScript yet, and the map of the rooms needs only this much.

export interface SourceText {
  /** The text with comments and the contents of literals blanked. Every offset and line is unchanged. */
  readonly code: string;
  /** The text with only comments blanked. */
  readonly withoutComments: string;
  readonly literals: readonly Literal[];
}

export interface Literal {
  /** Offset of the opening quote. */
  readonly start: number;
  readonly text: string;
}

export interface Import {
  readonly specifier: string;
  readonly offset: number;
  readonly typeOnly: boolean;
  /** The words between `import` and `from`. */
  readonly clause: string;
}

export function readSource(text: string): SourceText {
  return new Reader(text).read();
}

export function importsOf({ code, literals }: SourceText): Import[] {
  const specifiers = new Map(literals.map(({ start, text }) => [start, text]));
  // Literals are blanked, so a quote here opens a real one: import … from "x", import "x", import("x").
  const statement = /\b(?:import|export)\b(?<clause>[^;"'`]*?\bfrom\s*|\s*\(\s*|\s*)(?=["'])/g;
  return [...code.matchAll(statement)].flatMap((match) => {
    const specifier = specifiers.get(match.index + match[0].length);
    const clause = match.groups?.clause?.trim() ?? "";
    if (specifier === undefined) return [];
    return [{ specifier, offset: match.index, typeOnly: /^type\b(?!\s*(?:,|from))/.test(clause), clause }];
  });
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

class Reader {
  readonly #text: string;
  readonly #code: string[];
  readonly #withoutComments: string[];
  readonly #literals: Literal[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    // By code unit, not by character, because offsets must match the string's.
    this.#code = text.split("");
    this.#withoutComments = text.split("");
  }

  read(): SourceText {
    this.#readCode(undefined);
    const literals = this.#literals.sort((a, b) => a.start - b.start);
    return { code: this.#code.join(""), withoutComments: this.#withoutComments.join(""), literals };
  }

  /** Reads code up to the end, or inside a template up to the brace that closes the placeholder. */
  #readCode(until: "}" | undefined): void {
    let depth = 0;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at];
      const two = this.#text.slice(this.#at, this.#at + 2);
      if (two === "//") this.#skipComment(this.#endOf("\n"));
      else if (two === "/*") this.#skipComment(this.#endOf("*/") + 2);
      else if (char === '"' || char === "'") this.#readString(char);
      else if (char === "`") this.#readTemplate();
      else if (char === "/" && this.#regexMayStart()) this.#readRegex();
      else {
        if (char === "{") depth++;
        if (char === "}" && until && depth-- === 0) return;
        this.#at++;
      }
    }
  }

  #skipComment(end: number): void {
    blank(this.#code, this.#at, end);
    blank(this.#withoutComments, this.#at, end);
    this.#at = end;
  }

  #readString(quote: string): void {
    const start = this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== quote && this.#text[this.#at] !== "\n") {
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    }
    this.#keepLiteral(start, start + 1);
    this.#at++;
  }

  #readTemplate(): void {
    const start = this.#at++;
    let pieceStart = this.#at;
    let whole = "";
    while (this.#at < this.#text.length && this.#text[this.#at] !== "`") {
      if (this.#text.startsWith("${", this.#at)) {
        whole += this.#text.slice(pieceStart, this.#at);
        blank(this.#code, pieceStart, this.#at);
        this.#at += 2;
        this.#readCode("}");
        // A placeholder counts as a word.
        whole += "_";
        pieceStart = ++this.#at;
      } else this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    }
    whole += this.#text.slice(pieceStart, this.#at);
    blank(this.#code, pieceStart, this.#at);
    this.#literals.push({ start, text: whole });
    this.#at++;
  }

  #readRegex(): void {
    const start = this.#at++;
    let inClass = false;
    while (this.#at < this.#text.length && this.#text[this.#at] !== "\n") {
      const char = this.#text[this.#at];
      if (char === "/" && !inClass) break;
      if (char === "[") inClass = true;
      if (char === "]") inClass = false;
      this.#at += char === "\\" ? 2 : 1;
    }
    blank(this.#code, start + 1, this.#at++);
  }

  #keepLiteral(start: number, from: number): void {
    this.#literals.push({ start, text: this.#text.slice(from, this.#at) });
    blank(this.#code, from, this.#at);
  }

  /** A slash divides after a value and opens a regular expression anywhere else. */
  #regexMayStart(): boolean {
    const before = this.#withoutComments
      .slice(Math.max(0, this.#at - 80), this.#at)
      .join("")
      .trimEnd();
    if (/\b(?:return|typeof|case|in|of|await|yield|void|delete)$/.test(before)) return true;
    return !/[\w$)\]}"'`]$/.test(before);
  }

  #endOf(mark: string): number {
    const found = this.#text.indexOf(mark, this.#at + 2);
    return found === -1 ? this.#text.length : found;
  }
}

function blank(characters: string[], from: number, to: number): void {
  for (let at = from; at < to && at < characters.length; at++) {
    if (characters[at] !== "\n") characters[at] = " ";
  }
}
