/** Reads ConfigMaps: the limits of semaphores, as Kubernetes manifests write them. */
import { parseAllDocuments } from "yaml";
import { UNLIMITED } from "../core/gate/gate.ts";
import { lockNameProblem, namespaceProblem } from "../core/gate/lock.ts";
import { MOST_SLOTS } from "../core/number.ts";
import { shortly } from "../core/text.ts";

interface ConfigMap {
  readonly name: string;
  /** Null if the manifest names none. */
  readonly namespace: string | null;
  readonly limits: Readonly<Record<string, number>>;
}

/** Throws an Error that says what is wrong. Manifests of other kinds are left out. */
export function configMapsIn(text: string): ConfigMap[] {
  return parseAllDocuments(text, { prettyErrors: false }).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    const manifest: unknown = document.toJS();
    return isRecord(manifest) && manifest.kind === "ConfigMap" ? [configMap(manifest)] : [];
  });
}

type Fields = Readonly<Record<string, unknown>>;

function configMap({ metadata, data = {} }: Fields): ConfigMap {
  const { name, namespace = null } = isRecord(metadata) ? metadata : {};
  if (typeof name !== "string") throw new Error("a ConfigMap has no metadata.name");
  const problem = namespace === null ? undefined : namespaceProblem(namespace);
  if (problem) throw new Error(`ConfigMap "${name}": ${problem}`);
  if (!isRecord(data ?? {})) throw new Error(`ConfigMap "${name}": data must be a map`);
  const limits = Object.entries((data ?? {}) as Fields).map(([key, value]) => [
    key,
    limitOf(name, key, value),
  ]);
  return { name, namespace: namespace as string | null, limits: Object.fromEntries(limits) };
}

/** A ConfigMap holds texts, but a number without quotes is accepted too. */
function limitOf(map: string, key: string, value: unknown): number {
  const problem = lockNameProblem("semaphore", `${map}/${key}`);
  if (problem) throw new Error(`ConfigMap "${map}": ${problem}`);
  const limit = typeof value === "string" && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
  if (Number.isSafeInteger(limit) && (limit as number) >= UNLIMITED && (limit as number) <= MOST_SLOTS)
    return limit as number;
  throw new Error(
    `ConfigMap "${map}": ${key} must be a limit: a whole number, 0 to pause, or -1 for unlimited; got ${shortly(value)}`,
  );
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
