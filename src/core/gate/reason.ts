import { isSharedLock, limitNameOf } from "../shared/lock.ts";
import type { Limit } from "./gate.ts";
import { parseKey } from "./key.ts";

/** If more units than this are ahead, only time helps. A limit that would start all of them is not worth naming. */
export const MANY = 100;

/** A holder of slots of a gate, as far as the explained snapshot shows it. */
export interface Holder {
  readonly unit: string;
  readonly name: string;
  readonly slots: number;
  readonly session: string;
  readonly since: number;
  /**
   * Its unit has ended, or waits for its next attempt, but its code still runs. Its slots stay held until the
   * code ends.
   */
  readonly stopping?: { readonly since: number; readonly because: string };
}

/**
 * Other units may take what the removal of this reason frees, before the last reason is gone. No order of
 * removal prevents that. If `pause` is set, it is a gate that all of these units ask for: while that gate is
 * paused, none of them starts.
 */
export interface Contested {
  readonly pause?: string;
}

/** The unit at the front of a line, and why it does not start itself. */
interface Front {
  readonly unit: string;
  readonly reasons: readonly Reason[];
}

/** Why a unit waits, as data. Only describe.ts turns it into sentences. */
export type Reason = Cause & { readonly contested?: Contested };

type Cause =
  | {
      readonly kind: "full";
      readonly gate: string;
      readonly limit: number;
      readonly held: number;
      readonly asked: number;
      readonly ahead: number;
      readonly holders?: readonly Holder[];
      /** True if the limit is its family's limit for each value, which is stricter than the gate's own. */
      readonly perValue?: boolean;
      /** The limit with which the unit starts, if known. It includes the units ahead that then start too. */
      readonly room?: number;
    }
  | {
      readonly kind: "behind";
      readonly gate: string;
      readonly limit: number;
      readonly held: number;
      readonly asked: number;
      readonly ahead: number;
      readonly front: Front;
      readonly room?: number;
    }
  /** `zero` means that its limit of 0 pauses it. `room` is the limit with which the unit starts. */
  | {
      readonly kind: "paused";
      readonly gate: string;
      readonly ahead: number;
      readonly zero?: boolean;
      readonly room?: number;
    }
  /** `undeclared` means that no deployed app declares it. */
  | {
      readonly kind: "unset";
      readonly gate: string;
      readonly ahead: number;
      readonly undeclared?: boolean;
      /** An app declared it, but a later deploy of that app, at that time, does not. */
      readonly replaced?: { readonly app: string; readonly limit: Limit; readonly at: number };
      readonly room?: number;
    }
  | {
      readonly kind: "never";
      readonly gate: string;
      readonly limit: number;
      readonly asked: number;
      /** The limit with which it starts now. */
      readonly room?: number;
    }
  | { readonly kind: "later"; readonly at: number; readonly because: "delay" | "retry" }
  | { readonly kind: "needs"; readonly units: readonly string[] }
  /** A step that waits for a time, an event or a person. At `until` its time is up. */
  | {
      readonly kind: "awaits";
      readonly run: string;
      readonly step: string;
      readonly for: "sleep" | "until" | "event" | "approval";
      readonly until: number | null;
      readonly event?: string;
      /** Fields of the payload, and the values that they must have. */
      readonly match?: Readonly<Record<string, unknown>>;
      readonly question?: string;
      /** Who may answer, if not everybody. */
      readonly by?: readonly string[];
    }
  /**
   * `ahead` counts units in front that are also refused as busy and could run on one of its workers. `free`
   * counts slots that are unused, but that units ahead would take.
   */
  | {
      readonly kind: "busy";
      readonly workers: number;
      readonly slots: number;
      readonly ahead: number;
      readonly free?: number;
    }
  /** `apps` are the apps that have the task, if known. */
  | {
      readonly kind: "noWorker";
      readonly queue: string;
      readonly name: string;
      readonly apps?: readonly string[];
    }
  /**
   * It lacks locks that engines share, and more is not known. `unknown`: this program knows no sync database.
   * `away`: the sync database could not be reached. `soon`: its engine has not put it in line yet, or is about to
   * take the locks.
   */
  | {
      readonly kind: "shared";
      readonly locks: readonly string[];
      readonly because: "unknown" | "away" | "soon";
      readonly error?: string;
    }
  /**
   * Its lane could not be processed and was set aside at that time. No pass looks at it until it is put back.
   */
  | { readonly kind: "aside"; readonly lane: string; readonly error: string; readonly at: number };

/** A mutex is for one holder. A larger limit would break what it guards, so its holder must end. */
export const isMutex = (gate: string): boolean =>
  parseKey(gate).kind === "mutex" || (isSharedLock(gate) && limitNameOf(gate) === undefined);

export type GateReason = Extract<Reason, { gate: string }>;

/**
 * Many reasons share a front, and fronts stand behind other fronts, so walking them as a tree would take
 * forever. Here each front is expanded only where it first occurs, in reading order. Later it is only named.
 */
export function eachFrontOnce(reasons: readonly Reason[]): Reason[] {
  const seen = new Set<string>();
  const prune = (reason: Reason): Reason => {
    if (reason.kind !== "behind") return reason;
    const { unit } = reason.front;
    const isFirst = !seen.has(unit);
    seen.add(unit);
    return { ...reason, front: { unit, reasons: isFirst ? reason.front.reasons.map(prune) : [] } };
  };
  return reasons.map(prune);
}

/** Every gate that the reasons name, including the gates that hold the fronts back. */
export function gatesNamed(reasons: readonly Reason[]): Set<string> {
  const named = new Set<string>();
  const visit = (list: readonly Reason[]): void => {
    for (const reason of list) {
      if ("gate" in reason) named.add(reason.gate);
      if (reason.kind === "behind") visit(reason.front.reasons);
    }
  };
  visit(eachFrontOnce(reasons));
  return named;
}
