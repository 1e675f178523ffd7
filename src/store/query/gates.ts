/** Gates as users see them: their own rows, the rules of their families, the held slots, and the apps' declarations. */
import type { Limit } from "../../core/gate/gate.ts";
import { familyIn, familyOf } from "../../core/gate/key.ts";
import { bindsPerValue, inherit } from "../family.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { intOrNull, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";
import type { GateInfo, GateState } from "../store.ts";
import { heldPerGate } from "../usage.ts";
import type { NamedGate } from "./gate-row.ts";
import { ownGate } from "./gate-row.ts";
import { selectUsage } from "./look.ts";
import type { SayingOfGate } from "./saying.ts";
import { appSaying, selectSayings } from "./saying.ts";

export interface DatedGate extends NamedGate {
  readonly setAt: number | null;
}

const datedGate = (row: Row): DatedGate => ({
  key: text(row.name),
  own: ownGate(row),
  setAt: intOrNull(row.set_at),
});

const selectColumns = sql`SELECT name, capacity, declared, paused, line, lease_ms, set_by, set_at FROM sluice_gate`;

export const selectGates = (): Sql<DatedGate> => sql`${selectColumns} ORDER BY name`.as(datedGate);

export function* gates(): Flow<GateState[]> {
  const { found, used, said } = yield* flight({
    found: selectGates(),
    used: selectUsage(),
    said: selectSayings(),
  });
  return gateStates(found, heldPerGate(used), said);
}

export function gateStates(
  found: readonly DatedGate[],
  held: ReadonlyMap<string, number>,
  said: readonly SayingOfGate[],
): GateState[] {
  return gateInfos(found).map((gate) => ({
    ...gate,
    held: held.get(gate.key) ?? 0,
    said: said.filter((each) => each.gate === gate.key).map(appSaying),
  }));
}

/** A row without a name is not a gate, because no unit can ask for it. The doctor reports it. */
export function gateInfos(found: readonly DatedGate[]): GateInfo[] {
  const named = found.filter(({ key }) => key !== "");
  const all = new Map(named.map(({ key, own }) => [key, own]));
  return named.map(({ key, own, setAt }) => {
    const family = familyIn(all, key);
    const { declared, setBy } = own;
    const perValue = bindsPerValue(key, own, family);
    return { key, ...inherit(key, own, family), perValue, declared, setBy, setAt };
  });
}

export function* limits(keys: readonly string[]): Flow<ReadonlyMap<string, Limit>> {
  const families = keys.flatMap((key) => familyOf(key) ?? []);
  const found = yield* send(sql`${selectColumns} WHERE name ${oneOf([...keys, ...families])}`.as(datedGate));
  return new Map(gateInfos(found).map(({ key, limit }) => [key, limit]));
}
