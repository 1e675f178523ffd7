/**
 * The kinds of gates. A kind is data: who asks for it, how its line is served, the limit before anyone sets
 * one, and its title in sentences. Nothing in the decision knows about kinds.
 */
import type { Limit, Line } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import { familyOf, parseKey } from "./key.ts";
import { called, inNamespace, ofRun, only } from "./title.ts";

/** The line and limit of a new gate. */
export interface Born {
  readonly line: Line;
  /** The limit of a gate that no app declares: unlimited for caps, unset where a number is required. */
  readonly limit: Limit;
}

export interface Kind extends Born {
  /** The format of its keys. */
  readonly key: string;
  readonly askedBy: string;
  readonly means: string;
  /** The title in a sentence of the gate with this name. The name is empty if the kind has only one gate. */
  readonly title: (name: string) => string;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  cluster: {
    key: "cluster",
    means: "How many tasks may run at once in the whole store.",
    askedBy: "every task",
    line: "skip",
    limit: UNLIMITED,
    title: only("cluster", "the cluster cap"),
  },
  queue: {
    key: "queue:NAME",
    means: "How many tasks of a queue may run at once.",
    askedBy: "every task of the queue",
    line: "skip",
    limit: UNLIMITED,
    title: called("queue"),
  },
  runs: {
    key: "runs",
    means: "How many runs may be in progress at once.",
    askedBy: "every run",
    line: "skip",
    limit: 10,
    title: only("runs", "the run cap"),
  },
  tag: {
    key: "tag:KEY or tag:KEY=VALUE or tag:KEY=*",
    means:
      "How many runs with a tag may be in progress at once. `tag:KEY=*` is the limit for each value of the tag.",
    askedBy: "every run with the tag",
    line: "skip",
    limit: UNLIMITED,
    title: called("tag"),
  },
  run: {
    key: "run:ID/NAME",
    means:
      "A limit of one run: `workers`, `async`, `in-process` or `pods` of its executor, `items/STEP`, the window of a step over a list, `leaves`, all tasks below it, or `children`, its direct children. `nested` has no limit; it lets a pause reach tasks of child runs with an executor of their own.",
    askedBy: "the steps of the run and of the runs below it",
    line: "skip",
    limit: UNLIMITED,
    title: ofRun,
  },
  pool: {
    key: "pool:NAME or pool:NAME=VALUE or pool:NAME=*",
    means: "Slots of a shared resource. `pool:NAME=*` is the limit for each value.",
    askedBy: "tasks, steps and workflows that name it in `pools`",
    line: "bypass",
    limit: null,
    title: called("pool"),
  },
  mutex: {
    key: "mutex:NAMESPACE/NAME",
    means: "A lock that one unit may hold at a time.",
    askedBy: "tasks, steps and workflows that name it in `mutexes`",
    line: "strict",
    limit: 1,
    title: inNamespace("mutex"),
  },
  semaphore: {
    key: "semaphore:NAMESPACE/NAME or semaphore:NAMESPACE/CONFIGMAP/KEY",
    means: "A lock with as many slots as its limit says.",
    askedBy: "tasks, steps and workflows that name it in `semaphores`",
    line: "strict",
    limit: null,
    title: inNamespace("semaphore"),
  },
};

const kindIn = (key: string): Kind | undefined => {
  const kind = key.split(":", 1)[0] ?? "";
  return Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
};

/**
 * The line and limit of a gate when a unit first asks for it. A gate of an unknown kind must be set before it
 * admits.
 */
export function bornAs(key: string): Born {
  const { line, limit } = kindIn(key) ?? ({ line: "strict", limit: null } as const);
  return { line, limit };
}

/** The title of a gate in a sentence: `queue "stripe"`, `pool "tenant=acme"`, `the cluster cap`. */
export function gateTitle(key: string): string {
  const { kind, name } = parseKey(key);
  const known = kindIn(key);
  if (name === "" && known?.key !== key) return `gate "${key}"`;
  return (known?.title ?? called(kind))(key.slice(kind.length + 1));
}

/**
 * The values of a gate that no app declares. A gate of a single value has its family's limit, and none of its
 * own.
 */
export function undeclared(key: string): Born {
  const born = bornAs(key);
  return familyOf(key) === null ? born : { ...born, limit: null };
}

/**
 * True for gates that every unit of a line asks for. Waiting for them says nothing about one lane, so no lane
 * parks on them.
 */
export function isWholeLine(key: string): boolean {
  return key === "cluster" || key === "runs" || key.startsWith("queue:");
}
