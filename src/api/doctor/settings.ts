/** What the store stands on: the version, the durability, the locks and the speed of its database. */
import type { Store } from "../../store/store.ts";
import type { Check } from "./check.ts";
import { checkOf, warning } from "./check.ts";
import type { Judge, Settings } from "./judge.ts";
import { mysql } from "./mysql.ts";
import { postgres } from "./postgres.ts";
import { sqlite } from "./sqlite.ts";

const memory: Judge = {
  title: () => "in memory",
  version: () => [],
  durability: () => [warning("nothing is kept: it ends with this process", "Name a store that lasts")],
  locks: () => [],
  cutOff: "nobody else is there",
};

const JUDGES: Readonly<Record<Store["kind"], Judge>> = { postgres, mysql, sqlite, memory };

export function settingChecks(kind: Store["kind"], settings: Settings): Check[] {
  const { title, version, durability, locks, cutOff, speed } = JUDGES[kind];
  return [
    checkOf("version", version(settings), title(settings)),
    checkOf("durability", durability(settings), "what is acknowledged survives a crash"),
    checkOf("locks", locks(settings), cutOff),
    ...(speed ? [checkOf("speed", speed.found(settings), speed.well(settings))] : []),
  ];
}
