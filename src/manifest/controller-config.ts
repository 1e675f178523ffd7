/**
 * Reads the ConfigMap `workflow-controller-configmap`: how many runs an engine and a namespace may have in
 * progress, and how the engine shares locks with others. The names of its fields are Argo's.
 */
import { parse, parseAllDocuments } from "yaml";
import type { SyncDefinition } from "../core/app/sync-definition.ts";
import { SluiceError } from "../core/error.ts";
import { shortly } from "../core/text.ts";

/** Fields of an app. What the manifest does not say is left out. */
export interface ControllerConfig {
  readonly parallelism?: number;
  readonly namespaceParallelism?: number;
  readonly sync?: SyncDefinition;
}

const NAME = "workflow-controller-configmap";

type Fields = Readonly<Record<string, unknown>>;

/** `url` names the sync database if the manifest does not, or without its secrets. */
export function controllerConfigIn(text: string, url?: string): ControllerConfig {
  const found = manifestsIn(text).find(isController);
  if (!found) throw refused(`no ConfigMap is named ${NAME}`);
  const data = record("data", found.data ?? {});
  const synchronization = data.synchronization;
  return {
    ...limit(data, "parallelism"),
    ...limit(data, "namespaceParallelism"),
    ...(synchronization === undefined
      ? {}
      : { sync: syncIn(record("synchronization", read(synchronization)), url) }),
  };
}

const isController = ({ kind, metadata }: Fields): boolean =>
  kind === "ConfigMap" && isRecord(metadata) && metadata.name === NAME;

function manifestsIn(text: string): Fields[] {
  return parseAllDocuments(text, { prettyErrors: false }).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw refused(error.message);
    const manifest: unknown = document.toJS();
    return isRecord(manifest) ? [manifest] : [];
  });
}

/** The values of a ConfigMap are texts, and a section is YAML in a text. */
function read(section: unknown): unknown {
  if (typeof section !== "string") return section;
  try {
    return parse(section);
  } catch (error) {
    throw refused(`synchronization: ${(error as Error).message}`);
  }
}

function limit(data: Fields, field: "parallelism" | "namespaceParallelism"): Partial<ControllerConfig> {
  const said = data[field];
  if (said === undefined) return {};
  const number = typeof said === "string" && /^-?\d+$/.test(said.trim()) ? Number(said) : said;
  if (!Number.isSafeInteger(number))
    throw refused(`${field} must be a whole number, but is ${shortly(said)}`);
  return { [field]: number as number };
}

const COPIED = [
  "heartbeatSeconds",
  "inactiveControllerSeconds",
  "pollSeconds",
  "limitTableName",
  "controllerTableName",
  "stateTableName",
  "lockTableName",
] as const;

/** The names of the tables may stand in the section or beside the host of the database. The app check does the rest. */
function syncIn(section: Fields, url: string | undefined): SyncDefinition {
  const [kind, database] = databaseIn(section);
  const said: Fields = { ...database, ...section };
  const copied = Object.fromEntries(COPIED.flatMap((field) => (field in said ? [[field, said[field]]] : [])));
  const place = url ?? section.url ?? (kind && urlOf(kind, database));
  return { ...copied, url: place, controllerName: section.controllerName } as SyncDefinition;
}

function databaseIn(section: Fields): [kind: "postgres" | "mysql" | undefined, database: Fields] {
  if (section.postgresql !== undefined) return ["postgres", record("postgresql", section.postgresql)];
  if (section.mysql !== undefined) return ["mysql", record("mysql", section.mysql)];
  return [undefined, {}];
}

/** The user and the password are secrets of the cluster, so a program names them in the URL. */
function urlOf(kind: "postgres" | "mysql", { host, port, database }: Fields): string {
  if (typeof host !== "string" || typeof database !== "string")
    throw refused("the sync database needs a host and a database, or give its URL");
  return `${kind}://${host}${port === undefined ? "" : `:${port}`}/${database}`;
}

function record(field: string, value: unknown): Fields {
  if (isRecord(value)) return value;
  throw refused(`${field} must be a map, but is ${shortly(value)}`);
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const refused = (problem: string): SluiceError => new SluiceError("BAD_CONFIG_MAP", `${NAME}: ${problem}.`);
