/**
 * Gates: their limits, and who set them. This port knows how many slots of a gate are held. The holdings port
 * knows who holds them.
 */
import type { Said } from "../../core/gate/declared.ts";
import type { Limit, Line } from "../../core/gate/gate.ts";

export interface GatePort {
  /** Sorted by key. */
  gates(): Promise<GateState[]>;
  /** The limits in force of these gates. Gates that do not exist yet are left out. */
  limits(keys: readonly string[]): Promise<ReadonlyMap<string, Limit>>;
  /**
   * Returns the limits in force before and after, the family's limit included. Undefined if the gate does not
   * exist, unless `to` is "value" or the change says that the gate may be new.
   */
  changeLimit(change: LimitChange): Promise<{ readonly from: Limit; readonly limit: Limit } | undefined>;
  /**
   * Deletes a gate and its history, if no app declares it and no unit asks for it or holds it. Returns null
   * if the gate was deleted, the reason if it was kept, or undefined if there is no such gate.
   */
  deleteGate(key: string): Promise<GateKept | null | undefined>;
}

/** The rule that a gate enforces. */
export interface GateRule {
  readonly key: string;
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  /** How long a claim on it lasts without being renewed; null if only the session's lease counts. */
  readonly leaseMs: number | null;
}

export interface GateInfo extends GateRule {
  /** The limit to go back to: the strictest that apps declare for the gate, or the default of its kind. */
  readonly declared: Limit;
  /** The limit in force is the one that the gate's family has for each value. */
  readonly perValue: boolean;
  readonly setBy: string | null;
  readonly setAt: number | null;
}

/** A gate with the number of held slots and each app's declaration of it. */
export interface GateState extends GateInfo {
  readonly held: number;
  readonly said: readonly AppSaying[];
}

/** An app's declaration of one gate. */
export interface Saying extends Said {
  /** Only for a queue. */
  readonly rank: number | null;
}

/**
 * One app's declaration of a gate, and since when. The app "" stands for declarations made before apps had
 * names.
 */
export interface AppSaying extends Omit<Saying, "line"> {
  readonly app: string;
  readonly at: number;
}

export type LimitChange =
  | {
      readonly key: string;
      readonly to: "value";
      readonly limit: number;
      /** How long a claim on it lasts; unchanged if absent. */
      readonly leaseMs?: number | undefined;
      readonly by: string;
    }
  | { readonly key: string; readonly to: "declared"; readonly by: string }
  | {
      readonly key: string;
      readonly to: "paused" | "resumed";
      /** Creates the gate if no pass has seen a unit that asks for it yet. */
      readonly isNew?: boolean;
      readonly by: string;
    };

/** Whether a change creates a gate that does not exist. */
export const makesGate = (change: LimitChange): boolean =>
  change.to === "value" || ("isNew" in change && change.isNew === true);

/** Why a gate cannot be deleted: apps declare it, or a unit waits for it or holds it. */
export interface GateKept {
  readonly apps: readonly string[];
  readonly isAsked: boolean;
}
