/**
 * Keys of gates, "kind:name" or "kind:name=value". They are built and taken apart here; in the decision itself
 * a key is only a name.
 */
export const clusterKey = "cluster";

/** Asked for by units whose asks cannot be read. No such gate exists, so it admits nobody, and they wait alone. */
export const unreadableKey = "unreadable";

export function queueKey(name: string): string {
  return `queue:${name}`;
}

/** A pool with a limit per value is named with its value, "tenant=acme". */
export function poolKey(name: string): string {
  return `pool:${name}`;
}

export function mutexKey(name: string): string {
  return `mutex:${name}`;
}

/** Asked by every run. */
export const runsKey = "runs";

/** Asked by every run with this tag: under its key alone, and under key and value. */
export function tagKey(key: string, value?: string): string {
  return value === undefined ? `tag:${key}` : `tag:${key}=${value}`;
}

/** How many items of a step may be in flight. */
export function windowKey(run: string, step: string): string {
  return `run:${run}/items/${step}`;
}

/** A gate that one run has for itself, like "workers"; only its own steps ask for it. */
export function runGateKey(run: string, name: string): string {
  return `run:${run}/${name}`;
}

/** All of a run's own gates are paused and resumed with it, under one name; every other gate by itself. */
export function pausedWith(key: string): string {
  return key.startsWith("run:") ? (key.split("/", 1)[0] as string) : key;
}

/** The run whose own gate this is. */
export const pausedRun = (key: string): string => pausedWith(key).slice("run:".length);

interface KeyParts {
  readonly kind: string;
  /** Empty where there is only one gate of the kind, as with the cluster. */
  readonly name: string;
  /** What follows the first "=", which no name can contain. */
  readonly value: string | null;
}

export function parseKey(key: string): KeyParts {
  const colon = key.indexOf(":");
  if (colon < 0) return { kind: key, name: "", value: null };
  const kind = key.slice(0, colon);
  const rest = key.slice(colon + 1);
  const equals = rest.indexOf("=");
  if (equals < 0) return { kind, name: rest, value: null };
  return { kind, name: rest.slice(0, equals), value: rest.slice(equals + 1) };
}

export function formatKey({ kind, name, value }: KeyParts): string {
  if (name === "" && value === null) return kind;
  return value === null ? `${kind}:${name}` : `${kind}:${name}=${value}`;
}

export function kindOf(key: string): string {
  return parseKey(key).kind;
}

/** Where the limit of a per-value gate comes from: "pool:tenant=*" for "pool:tenant=acme"; null for all others. */
export function familyOf(key: string): string | null {
  const parts = parseKey(key);
  if (parts.value === null || parts.value === ANY) return null;
  return formatKey({ ...parts, value: ANY });
}

/** What is known of its family; nothing where it has none, whatever a row without a name may say. */
export function familyIn<T>(all: ReadonlyMap<string, T>, key: string): T | undefined {
  const family = familyOf(key);
  return family === null ? undefined : all.get(family);
}

/** The value that stands for each one; nothing can be asked under it. */
export const ANY = "*";
