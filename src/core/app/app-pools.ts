/** The pools of an app, also if the definition is wrong. */
import type { AppDefinition } from "./definition.ts";
import { isRecord } from "./rule.ts";

export function poolsOf({ pools }: AppDefinition): AppDefinition["pools"] {
  return isRecord(pools) ? pools : {};
}
