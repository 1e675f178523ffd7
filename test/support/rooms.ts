// Enforces the map of the rooms: which room may import which, and which words belong to one room alone.
// ARCHITECTURE.md draws the same arrows. If one changes, change both.

import { posix } from "node:path";
import type { Import, SourceText } from "./source-text.ts";
import { importsOf, lineAt, readSource } from "./source-text.ts";

export interface SourceFile {
  /** Relative to the top of the repository: `src/core/gate/admit.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Everything in `files` that breaks the map, each as `file:line: what and why`. Tests are exempt. */
export function brokenWalls(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith("src/") && !path.endsWith(".test.ts"))
    .flatMap(({ path, text }) => {
      const source = readSource(text);
      const found = [...wrongImports(path, source), ...wrongWords(path, source)];
      return found
        .sort((a, b) => a.offset - b.offset)
        .map(({ offset, problem }) => `${path}:${lineAt(text, offset)}: ${problem}`);
    });
}

interface Found {
  readonly offset: number;
  readonly problem: string;
}

const rooms = [
  "core",
  "env",
  "store",
  "engine",
  "executor",
  "manifest",
  "api",
  "client",
  "surface",
  "testing",
] as const;

type Room = (typeof rooms)[number];
/** A file directly in src: the public face. */
type Face = "face";

/** The rooms each room may import, besides itself. */
const arrows: Record<Room | Face, readonly Room[]> = {
  core: [],
  env: [],
  store: ["core", "env"],
  engine: ["core", "env", "store", "executor"],
  executor: ["core", "env"],
  manifest: ["core"],
  api: ["core", "env", "store", "engine", "executor", "manifest"],
  client: ["core", "env", "api"],
  surface: ["core", "env", "store", "engine", "executor", "manifest", "api", "client"],
  testing: ["core", "env", "store", "engine", "executor", "manifest", "api", "client"],
  face: ["core", "env", "store", "engine", "executor", "manifest", "api", "client", "testing"],
};

const executorContract = "src/executor/executor.ts";
const decision = "src/core/gate/admit.ts";
const drivers = /^(?:pg|mysql2|@photostructure\/sqlite|node:sqlite)(?:\/|$)/;

const timerModules = /^(?:node:)?timers(?:\/|$)/;
const timersAreEnvs = "timers come from src/env, where a test can own them";

/** The test kit waits in real time if a store under test does. */
const mayCallTimers = (path: string): boolean => /^src\/(?:env|testing)\//.test(path);

function wrongImports(path: string, source: SourceText): Found[] {
  const room = roomOf(path);
  if (!room) return [{ offset: 0, problem: `src/${path.split("/")[1]} is not a room; see ARCHITECTURE.md` }];
  return importsOf(source).flatMap((entry) => {
    const problem = entry.specifier.startsWith(".")
      ? wrongNeighbour(path, room, entry)
      : wrongPackage(path, room, entry);
    return problem ? [{ offset: entry.offset, problem }] : [];
  });
}

function wrongNeighbour(path: string, room: Room | Face, entry: Import): string | undefined {
  const target = posix.join(posix.dirname(path), entry.specifier);
  const other = roomOf(target);
  if (other === "face") return room === "face" ? undefined : `${room} imports ${target}, the public face`;
  if (!other) return `${room} imports ${target}, which is in no room`;
  if (room === "store" && (target === decision || /\badmit\b/.test(entry.clause))) {
    return "store imports admit; stores remember, they never decide";
  }
  if (other === room) return undefined;
  if (!arrows[room].includes(other)) return `${room} must not import ${other} (${target})`;
  if (room === "engine" && other === "executor" && target !== executorContract) {
    return `engine knows only the contract ${executorContract}, not ${target}`;
  }
  if (room === "client" && other === "api" && !entry.typeOnly) {
    return `client knows only the types of api; write "import type" (${target})`;
  }
  return undefined;
}

function wrongPackage(path: string, room: Room | Face, { specifier }: Import): string | undefined {
  if (timerModules.test(specifier) && !mayCallTimers(path)) return `${specifier}: ${timersAreEnvs}`;
  if (/^sluice(?:\/|$)/.test(specifier)) return `${specifier} is ourselves; import by path`;
  if (room === "core" && specifier === "@standard-schema/spec") return undefined; // types only, by its own rule
  if (room === "core") return `core imports ${specifier}; it knows nothing but itself`;
  if (room === "testing" || !drivers.test(specifier)) return undefined;
  return /^src\/store\/[^/]+\//.test(path) ? undefined : `${specifier} belongs into src/store/<dialect>/`;
}

function wrongWords(path: string, source: SourceText): Found[] {
  const found: Found[] = [];
  if (path.startsWith("src/core/")) found.push(...impureWords(source));
  else if (!mayCallTimers(path)) found.push(...rawTimers(source));
  if (path.startsWith("src/surface/")) found.push(...storeUses(source));
  if (!path.startsWith("src/store/")) found.push(...sql(source));
  if (!path.startsWith("src/core/gate/")) found.push(...decisions(source));
  return found;
}

function impureWords({ code }: SourceText): Found[] {
  const words = /\b(?:Date\.now|new Date\b|Math\.random|setTimeout|setInterval|process\.)/g;
  return [...code.matchAll(words)].map((match) => ({
    offset: match.index,
    problem: `core says ${match[0]}; time, chance and the world are handed in as values`,
  }));
}

function rawTimers({ code }: SourceText): Found[] {
  const words = /\b(?:setTimeout|setInterval|setImmediate|AbortSignal\.timeout)\b/g;
  return [...code.matchAll(words)].map((match) => ({
    offset: match.index,
    problem: `calls ${match[0]}; ${timersAreEnvs}`,
  }));
}

/** An option named `store` is a URL. The store opened from it is used only through api. */
function storeUses({ code }: SourceText): Found[] {
  return [...code.matchAll(/(?<!\boptions)\??\.store\b/g)].map((match) => ({
    offset: match.index,
    problem: "surface reaches into the store; it calls the verbs of api",
  }));
}

function sql({ literals }: SourceText): Found[] {
  return literals
    .filter(({ text }) => /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE \w+ SET)\b/.test(text))
    .map(({ start }) => ({ offset: start, problem: "SQL outside of src/store" }));
}

function decisions({ withoutComments }: SourceText): Found[] {
  // Literals count, too: a WHERE clause would decide just as well. Arrows of functions do not.
  const text = withoutComments.replaceAll("=>", "  ");
  const comparison =
    /held\b[^;\n]{0,40}[<>]=?[^;\n]{0,40}\blimit\b|\blimit\b[^;\n]{0,40}[<>]=?[^;\n]{0,40}held\b/g;
  return [...text.matchAll(comparison)].map((match) => ({
    offset: match.index,
    problem: `compares held with limit ("${match[0]}"); only src/core/gate decides`,
  }));
}

function roomOf(path: string): Room | Face | undefined {
  const [top, name, ...rest] = path.split("/");
  if (top !== "src") return undefined;
  if (rest.length === 0) return "face";
  return rooms.find((room) => room === name);
}
