/** Declarations: what each app declares about queues, gates and triggers. */
import type { AppNames } from "../../core/app/shared-names.ts";
import type { Limit, Line } from "../../core/gate/gate.ts";
import type { TriggerKind } from "../../core/schedule/trigger.ts";

export interface DeclarationPort {
  declare(declaration: Declaration, occasion?: Occasion): Promise<Declared>;
  /** Gates and queues that an app once declared and no app declares any more. */
  replaced(): Promise<readonly Replaced[]>;
  /** Every app with its tasks and workflows, from its declaration in force, sorted by app. */
  apps(): Promise<readonly AppNames[]>;
}

/**
 * Everything that an app declares. It replaces the app's previous declaration and touches nothing of other
 * apps. Declared values are initial values: a value set by an operator stays.
 */
export interface Declaration {
  /** The app that declares; "default" if absent. */
  readonly app?: string;
  /** A rank of null declares no rank. */
  readonly queues: readonly { readonly name: string; readonly rank: number | null }[];
  readonly gates: readonly DeclaredGate[];
  readonly triggers?: readonly NewTrigger[];
  /**
   * The tasks that the app's workers run. They tell which app could run a unit. A changed list alone is not a
   * new deploy.
   */
  readonly tasks?: readonly string[];
  /** Like `tasks`: they tell which apps share a workflow. */
  readonly workflows?: readonly string[];
}

export interface DeclaredGate {
  readonly key: string;
  readonly limit: number;
  readonly line: Line;
  readonly leaseMs?: number | undefined;
}

export interface NewTrigger {
  /** For example "schedule nightly". It is also the source of the runs it submits. */
  readonly name: string;
  readonly kind: TriggerKind;
  /** Null if each submission names its own workflow. */
  readonly workflow: string | null;
  /** JSON text of the trigger's declaration. */
  readonly spec: string;
  /** A new trigger starts paused. This does not affect a trigger that already exists. */
  readonly paused: boolean;
}

/**
 * `deploy` always puts a declaration in force. `start`, which every worker begins with, does not bring back a
 * declaration that a later one of its app has replaced.
 */
export type Occasion = "deploy" | "start";

export interface Declared {
  /** False if a later declaration of this app is in force; nothing was changed then. */
  readonly inForce: boolean;
  /** When the declaration in force took effect. */
  readonly at: number;
}

/** A gate or queue that an app once declared. No app has declared it since the deploy at `at`. */
export interface Replaced {
  readonly gate: string;
  readonly app: string;
  /** Its limit at that time; null if only the queue was declared. */
  readonly limit: Limit;
  readonly at: number;
}
