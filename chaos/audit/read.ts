/** Reads the audit's rows for the checkers, with all times converted to wall time. */
import type { Audited } from "../history.ts";
import type { Place, Row } from "../place/place.ts";

export async function readAudit(place: Place): Promise<Audited[]> {
  return (await place.audit()).flatMap((row) => audited(row, place.leaseToWall));
}

function audited(row: Row, leaseToWall: number): Audited[] {
  const number = (column: string): number => Number(row[column]);
  const text = (column: string): string => String(row[column]);
  const lease = (column: string): number => number(column) + leaseToWall;
  const moment = { at: number("at"), stamp: number("stamp") };
  const life = { attempt: number("n4"), losses: number("n5") };
  const kind = text("kind");
  switch (kind) {
    case "claim":
    case "change":
    case "release":
    case "stopping":
    case "stopped":
      return [
        {
          kind,
          ...moment,
          ...life,
          task: text("k1"),
          lane: text("k2"),
          session: text("k3"),
          epoch: number("n1"),
          held: number("n2") === 1,
          until: row.n3 === null ? null : lease("n3"),
        },
      ];
    case "session":
      return [{ kind, ...moment, session: text("k1"), name: text("k2"), expires: lease("n1") }];
    case "sessionEnd":
      return [{ kind, ...moment, session: text("k1") }];
    case "limit": {
      const capacity = row.n1 === null ? null : number("n1");
      return [{ kind, ...moment, gate: text("k1"), capacity, paused: number("n2") === 1 }];
    }
    case "place":
      return [{ kind, ...moment, ...life, task: text("k1"), place: text("k2") }];
    case "outcome": {
      const epoch = row.n1 === null ? null : number("n1");
      return [{ kind, ...moment, ...life, task: text("k1"), state: text("k2"), epoch }];
    }
    case "outcomeGone":
      return [{ kind, ...moment, task: text("k1") }];
    default:
      return [];
  }
}
