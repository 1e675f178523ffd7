/** Declarations: what each app says of queues, gates and triggers. */
import type { Limit, Line } from "../../core/gate/gate.ts";
import type { TriggerKind } from "../../core/schedule/trigger.ts";

export interface DeclarationPort {
  declare(declaration: Declaration, occasion?: Occasion): Promise<Declared>;
  /** What apps declared once and nobody declares any more. */
  replaced(): Promise<readonly Replaced[]>;
}

/**
 * All that an app says: it replaces what the same app said before, and touches nothing of other apps. Declared values
 * are initial ones: what an operator set stays.
 */
export interface Declaration {
  /** Whose it is; "default" when not said. */
  readonly app?: string;
  /** A rank of null says nothing of it. */
  readonly queues: readonly { readonly name: string; readonly rank: number | null }[];
  readonly gates: readonly DeclaredGate[];
  readonly triggers?: readonly NewTrigger[];
  /** The tasks that its workers run. They say who could run a unit; another list of them is no other deploy. */
  readonly tasks?: readonly string[];
}

export interface DeclaredGate {
  readonly key: string;
  readonly limit: number;
  readonly line: Line;
  readonly leaseMs?: number | undefined;
}

export interface NewTrigger {
  /** "schedule nightly": also the source of its runs. */
  readonly name: string;
  readonly kind: TriggerKind;
  /** Null where each submission says it. */
  readonly workflow: string | null;
  /** JSON text of what it is declared as. */
  readonly spec: string;
  /** Born paused; says nothing about one that is there already. */
  readonly paused: boolean;
}

/**
 * `deploy` makes a declaration the one in force in any case. `start`, with which every worker begins, does not bring back
 * one that a later declaration of its app has replaced.
 */
export type Occasion = "deploy" | "start";

export interface Declared {
  /** False when a later declaration of this app holds, and nothing was changed. */
  readonly inForce: boolean;
  /** When the declaration in force became it. */
  readonly at: number;
}

/** The tasks of an app, as its declaration in force names them. */
export interface AppTasks {
  readonly app: string;
  readonly tasks: readonly string[];
}

/** A gate or queue that an app declared once; since the deploy at that time nobody declares it. */
export interface Replaced {
  readonly gate: string;
  readonly app: string;
  /** What it was; null where only the queue was named. */
  readonly limit: Limit;
  readonly at: number;
}
