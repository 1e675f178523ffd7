import type { Limit } from "./gate.ts";

/** Behind so many it is time that helps: no limit that lets all of them start is worth a word. */
export const MANY = 100;

/** Who holds slots of a gate, as far as the snapshot that was explained knows them. */
export interface Holder {
  readonly unit: string;
  readonly name: string;
  readonly slots: number;
  readonly session: string;
  readonly since: number;
  /** Its unit has ended, or waits for its next attempt; its code still runs, and its slots follow the code. */
  readonly stopping?: { readonly since: number; readonly because: string };
}

/** The unit at the front of a line, and why it does not move itself. */
interface Front {
  readonly unit: string;
  readonly reasons: readonly Reason[];
}

/** Why a unit waits, as data. Sentences are made of it in describe.ts and nowhere else. */
export type Reason =
  | {
      readonly kind: "full";
      readonly gate: string;
      readonly limit: number;
      readonly held: number;
      readonly asked: number;
      readonly ahead: number;
      readonly holders?: readonly Holder[];
      /** The limit is the one that its family has for each value, stricter than any of the gate's own. */
      readonly perValue?: boolean;
      /** The limit with which it starts, where that is known: those ahead who start with it have room, too. */
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
  /** `zero`: it is its limit of 0 that pauses it; `room` is the limit with which the unit starts. */
  | {
      readonly kind: "paused";
      readonly gate: string;
      readonly ahead: number;
      readonly zero?: boolean;
      readonly room?: number;
    }
  /** `undeclared`: no app that is deployed declares it. */
  | {
      readonly kind: "unset";
      readonly gate: string;
      readonly ahead: number;
      readonly undeclared?: boolean;
      /** An app declared it, and its later deploy, at that time, does not. */
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
  /**
   * `ahead` are units in front that are refused as busy too and could run on one of its workers; `free` are slots that
   * nobody uses yet, but those ahead would.
   */
  | {
      readonly kind: "busy";
      readonly workers: number;
      readonly slots: number;
      readonly ahead: number;
      readonly free?: number;
    }
  /** `apps`: those that have the task, where it is known. */
  | {
      readonly kind: "noWorker";
      readonly queue: string;
      readonly name: string;
      readonly apps?: readonly string[];
    }
  /** Its lane could not be processed and was set aside, then; nobody looks at it until it is put back. */
  | { readonly kind: "aside"; readonly lane: string; readonly error: string; readonly at: number };

export type GateReason = Extract<Reason, { gate: string }>;

/**
 * Many reasons share a front, and fronts stand behind others, so walking them as if they were a tree takes for ever.
 * Here each front is expanded only where it occurs first, in reading order; later it is only named.
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

/** Every gate that a list of reasons names, following `behind` to what holds the front back. */
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
