/** Checks the database of a store: its version, durability, locks, speed and largest values. */
import type { AnyStore } from "../../store/capabilities.ts";
import type { Check } from "./check.ts";
import { checkOf, warning } from "./check.ts";
import type { Judge, StoreSettings } from "./judge.ts";
import { mysql } from "./mysql.ts";
import { postgres } from "./postgres.ts";
import { sqlite } from "./sqlite.ts";

const JUDGES: ReadonlyMap<string, Judge> = new Map([
  ["postgres", postgres],
  ["mysql", mysql],
  ["sqlite", sqlite],
]);

/** A store on an unknown database is judged only by its own capabilities. */
const byCapabilities = ({ kind, capabilities: { durable, shared } }: Judged): Judge => ({
  title: () => (kind === "memory" ? "in memory" : kind),
  version: () => [],
  durability: () =>
    durable ? [] : [warning("nothing is kept: it ends with this process", "Use a durable store")],
  locks: () => [],
  cutOff: shared ? "its own settings are not known here" : "no other process uses it",
});

type Judged = Pick<AnyStore, "kind" | "capabilities">;

export function settingChecks(store: Judged, settings: StoreSettings): Check[] {
  const judge = JUDGES.get(store.kind) ?? byCapabilities(store);
  const { title, version, durability, locks, cutOff, speed, values } = judge;
  return [
    checkOf("version", version(settings), title(settings)),
    checkOf("durability", durability(settings), "acknowledged commits survive a crash"),
    checkOf("locks", locks(settings), cutOff),
    ...(speed ? [checkOf("speed", speed.found(settings), speed.well(settings))] : []),
    ...(values ? [checkOf("values", values.found(settings), values.well(settings))] : []),
  ];
}
