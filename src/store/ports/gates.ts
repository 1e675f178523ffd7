/**
 * Gates: their limits, and who set them. This port knows how many slots of a gate are held, not by what: that is for the
 * holdings to say.
 */
import type { Said } from "../../core/gate/declared.ts";
import type { Limit, Line } from "../../core/gate/gate.ts";

export interface GatePort {
  /** By key. */
  gates(): Promise<GateState[]>;
  /** The limits in force of these gates; a gate that does not exist yet is not listed. */
  limits(keys: readonly string[]): Promise<ReadonlyMap<string, Limit>>;
  /** The limits that were and are in force there, its family's among them; undefined when there is no such gate to go back. */
  changeLimit(change: LimitChange): Promise<{ readonly from: Limit; readonly limit: Limit } | undefined>;
  /**
   * Takes a gate that nobody declares, asks for or holds out of the store, with its history: null when it is gone, or
   * who keeps it there. Undefined when there is no such gate.
   */
  deleteGate(key: string): Promise<GateKept | null | undefined>;
}

/** The rule at a gate. */
export interface GateRule {
  readonly key: string;
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  /** How long a claim on it lasts without being renewed; null where only its session counts. */
  readonly leaseMs: number | null;
}

export interface GateInfo extends GateRule {
  /** What it goes back to: the strictest of what apps declare for it, or what its kind is born with. */
  readonly declared: Limit;
  /** The limit in force is the one that its family has for each value. */
  readonly perValue: boolean;
  readonly setBy: string | null;
  readonly setAt: number | null;
}

/** A gate with what is held there, and with what each app says of it. */
export interface GateState extends GateInfo {
  readonly held: number;
  readonly said: readonly AppSaying[];
}

/** What an app says of one gate. */
export interface Saying extends Said {
  /** Of a queue. */
  readonly rank: number | null;
}

/** One app's word on a gate: since when it says so. The app "" stands for what was declared before apps had names. */
export interface AppSaying extends Omit<Saying, "line"> {
  readonly app: string;
  readonly at: number;
}

export type LimitChange =
  | {
      readonly key: string;
      readonly to: "value";
      readonly limit: number;
      /** How long a claim on it lasts; as it was when absent. */
      readonly leaseMs?: number | undefined;
      readonly by: string;
    }
  | { readonly key: string; readonly to: "declared"; readonly by: string }
  | { readonly key: string; readonly to: "paused" | "resumed"; readonly by: string };

/** Why a gate cannot be taken out of the store: apps declare it, or somebody waits for it or holds it. */
export interface GateKept {
  readonly apps: readonly string[];
  readonly isAsked: boolean;
}
