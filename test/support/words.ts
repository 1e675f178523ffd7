// Enforces the vocabulary: words that have a table in src/core are used as the table has them, only the
// command line spells commands, and no code rewrites a message.

import { isErrorCode } from "../../src/core/error-code.ts";
import { FEED_EVENTS, isEventKind } from "../../src/core/event.ts";
import { isHint } from "../../src/core/hint.ts";
import { RUN_EVENTS } from "../../src/core/run/event.ts";
import type { SourceFile } from "./rooms.ts";
import { lineAt, readSource } from "./source-text.ts";

/** Every misused word in `files`, each as `file:line: what and why`. Tests are exempt. */
export function strayWords(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith("src/") && !path.endsWith(".test.ts"))
    .flatMap(({ path, text }) =>
      RULES.flatMap((rule) => rule(path, text))
        .sort((a, b) => a.offset - b.offset)
        .map(({ offset, problem }) => `${path}:${lineAt(text, offset)}: ${problem}`),
    );
}

interface Found {
  readonly offset: number;
  readonly problem: string;
}

type Rule = (path: string, text: string) => Found[];

const isOnCommandLine = (path: string): boolean => path.startsWith("src/surface/cli/");

/** Comments count, too: the name of a command is known in one place. */
const commands: Rule = (path, text) =>
  isOnCommandLine(path)
    ? []
    : [...text.matchAll(/\bsluice [a-z]\w*|["'`\s(]--[a-z][a-z-]+(?=[\s="'`,.)])/g)].map((match) => ({
        offset: match.index,
        problem: `says "${match[0].trim()}"; only src/surface/cli spells commands. Carry a Remedy instead`,
      }));

/** Steps in pods use words of Kubernetes that look like ours. */
const events: Rule = (path, text) =>
  path.startsWith("src/executor/")
    ? []
    : unknown(
        text,
        EVENT,
        (word) => [FEED_EVENTS, RUN_EVENTS].some((kinds) => Object.hasOwn(kinds, word)) || isEventKind(word),
        "event",
        "event.ts",
      );

const EVENT = /["'`]((?:Task|Run|Step|Lane|Gate|Limit|Trigger|Worker)(?:[A-Z][a-z]+)+)["'`]/g;

const hints: Rule = (_, text) => unknown(text, HINT, isHint, "hint", "hint.ts");

const HINT = /\bhint(?:\(\s*|\s*[!=]==\s*)"([^"]*)"/g;

/** The store suite throws errors as users do, with their own codes. */
const codes: Rule = (path, text) =>
  path.startsWith("src/testing/")
    ? []
    : unknown(text, CODE, (word) => isErrorCode(word) || OF_OTHERS.test(word), "error code", "error-code.ts");

const CODE = /(?:SluiceError\(\s*|\bcode(?::|\s*[!=]==)\s*|\\?"code\\?":\s*\\?)["'`]([A-Z][A-Z_]+)\\?["'`]/g;
/** Codes of Node, of drivers and of databases. */
const OF_OTHERS = /^(?:E[A-Z]+|ERR?_\w+|SQLITE_\w+|CONNECTION_LOST|ERROR)$/;

function unknown(
  text: string,
  pattern: RegExp,
  isKnown: (word: string) => boolean,
  what: string,
  table: string,
): Found[] {
  const { withoutComments } = readSource(text);
  return [...withoutComments.matchAll(pattern)].flatMap((match) =>
    isKnown(match[1] ?? "")
      ? []
      : [{ offset: match.index, problem: `"${match[1]}" is not a known ${what}; see src/core/${table}` }],
  );
}

/** A message is changed where it is made, not where it is shown. */
const rewriting: Rule = (_, text) =>
  [...readSource(text).code.matchAll(REWRITE)].map((match) => ({
    offset: match.index,
    problem: `rewrites a message (${match[0]}…); carry data and say it where it is shown`,
  }));

const REWRITE =
  /\b(?:message|sentence|remedy|why|reason|told|cure)\)?\??\.(?:replace|replaceAll|match|split)\(/g;

/** Whatever its name: a text that a `say…` function made, or one that is cut at a phrase, was made for people. */
const takingApart: Rule = (_, text) =>
  [...readSource(text).withoutComments.matchAll(TAKE_APART)].map((match) => ({
    offset: match.index,
    problem: `takes a text for people apart (${match[0]}…); carry data and say it where it is shown`,
  }));

const TAKE_APART =
  /\bsay[A-Z]\w*\([^()]*\)\??\.(?:replace|replaceAll|match|split|slice)\(|\.(?:split|replace|replaceAll|indexOf)\(\s*["'`](?: [a-z]+ ?|[a-z]+ )["'`]/g;

const RULES: readonly Rule[] = [commands, events, hints, codes, rewriting, takingApart];
