/** The options of the Kubernetes executor and their defaults. */
import type { Connection, ConnectionOptions } from "./connection.ts";
import type { Pacing } from "./pacing.ts";
import { PACING } from "./pacing.ts";
import type { PodEvent } from "./pod-event.ts";

export interface KubernetesExecutorOptions extends ConnectionOptions {
  /**
   * The name of this installation. It must stay the same across restarts, and no other installation may use
   * it.
   */
  readonly owner: string;
  /** Namespaces to search for pods of dead workers, in addition to those used since the start. */
  readonly namespaces?: readonly string[];
  /** The command for pods that name none. Default: our own command that runs a single step. */
  readonly command?: readonly string[];
  /** How long a pod may take to end once it is told to. Default: 10 s. */
  readonly graceSeconds?: number;
  /** Time for pulling the image, added to a step's timeout. Default: 300 s. */
  readonly startSeconds?: number;
  /** How long a pod may be unable to start, or may stay after its deletion. Default: 2 min. */
  readonly patienceMs?: number;
  /**
   * How long after the grace period a node may take to confirm that a pod is gone, before its attempt ends
   * anyway. Default: 10 s.
   */
  readonly goneWithinMs?: number;
  readonly pacing?: Pacing;
  readonly watch?: (event: PodEvent) => void;
  /** Replaces the client library's connection. */
  readonly connect?: () => Promise<Connection>;
}

export const DEFAULTS = {
  namespaces: [],
  command: ["sluice", "step"],
  graceSeconds: 10,
  startSeconds: 300,
  patienceMs: 120_000,
  goneWithinMs: 10_000,
  pacing: PACING,
} satisfies Partial<KubernetesExecutorOptions>;

export type PodSettings = KubernetesExecutorOptions &
  Required<Pick<KubernetesExecutorOptions, keyof typeof DEFAULTS>>;
