/**
 * Keys of gates, "kind:name" or "kind:name=value". They are built and parsed here. In the decision itself a
 * key is only a name.
 */
export const clusterKey = "cluster";

/**
 * Units whose asks cannot be read ask for this gate. It does not exist, so it admits nothing, and these units
 * hold no other unit back.
 */
export const unreadableKey = "unreadable";

export function queueKey(name: string): string {
  return `queue:${name}`;
}

/** The name of a pool with a limit per value includes the value: "tenant=acme". */
export function poolKey(name: string): string {
  return `pool:${name}`;
}

/** The namespace of runs that say nothing else. */
export const DEFAULT_NAMESPACE = "default";

/** A namespace has no slash, so the name may have some. */
export const mutexKey = (name: string, namespace: string): string => `mutex:${namespace}/${name}`;

/** The name is NAME, or CONFIGMAP/KEY. */
export const semaphoreKey = (name: string, namespace: string): string => `semaphore:${namespace}/${name}`;

/** Every run asks for it. */
export const runsKey = "runs";

/** Every run with this tag asks for two gates: that of the key alone, and that of the key with its value. */
export function tagKey(key: string, value?: string): string {
  return value === undefined ? `tag:${key}` : `tag:${key}=${value}`;
}

/** Limits how many items of a step may be in flight. */
export function windowKey(run: string, step: string): string {
  return `run:${run}/items/${step}`;
}

/** A gate of one run, like "workers". Only the run's own steps ask for it. */
export function runGateKey(run: string, name: string): string {
  return `run:${run}/${name}`;
}

/** Every task below the run asks for it, at any depth, if the run's workflow limits them. */
export const leavesKey = (run: string): string => runGateKey(run, "leaves");

/** Every direct child of a run asks for it: a run that is one of its steps or items. */
export const childrenKey = (run: string): string => runGateKey(run, "children");

/**
 * All of a run's own gates are paused and resumed together, under one name. Every other gate is paused by
 * itself.
 */
export function pausedWith(key: string): string {
  return key.startsWith("run:") ? (key.split("/", 1)[0] as string) : key;
}

/** True for the name of a run's pause, which is not itself a gate. */
export const isPauseOfRun = (key: string): boolean => key.startsWith("run:") && pausedWith(key) === key;

/** The run that owns this gate. */
export const pausedRun = (key: string): string => pausedWith(key).slice("run:".length);

interface KeyParts {
  readonly kind: string;
  /** Empty if the kind has only one gate, like the cluster. */
  readonly name: string;
  /** The text after the first "=", which no name can contain. */
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

/**
 * The gate that holds the limit of a per-value gate: "pool:tenant=*" for "pool:tenant=acme". Null for all
 * others.
 */
export function familyOf(key: string): string | null {
  const parts = parseKey(key);
  if (parts.value === null || parts.value === ANY) return null;
  return formatKey({ ...parts, value: ANY });
}

/** The entry of the gate's family. Undefined if it has no family, even if there is an entry without a name. */
export function familyIn<T>(all: ReadonlyMap<string, T>, key: string): T | undefined {
  const family = familyOf(key);
  return family === null ? undefined : all.get(family);
}

/** The value that stands for every value. No unit can ask for it. */
export const ANY = "*";
