/** What the Kubernetes executor can be told, and what it takes for granted. */
import type { Connection, ConnectionOptions } from "./connection.ts";
import type { Pacing } from "./pacing.ts";
import { PACING } from "./pacing.ts";
import type { PodEvent } from "./pod-event.ts";

export interface KubernetesExecutorOptions extends ConnectionOptions {
  /** The name of this installation, the same after every restart and in no other installation. */
  readonly owner: string;
  /** Where to look for pods of workers that died, besides those used since the start. */
  readonly namespaces?: readonly string[];
  /** For pods that name none; The command that runs a step unless given. */
  readonly command?: readonly string[];
  /** How long a pod may take to end once it is told to; 10 s unless given. */
  readonly graceSeconds?: number;
  /** What pulling the image may take beside a step's timeout; 300 s unless given. */
  readonly startSeconds?: number;
  /** How long a pod may be unable to start, or stay after its deletion; 2 min unless given. */
  readonly patienceMs?: number;
  /** What its node may take beside the grace to say that a pod is gone, before its attempt ends anyway; 10 s unless given. */
  readonly goneWithinMs?: number;
  readonly pacing?: Pacing;
  readonly watch?: (event: PodEvent) => void;
  /** Instead of the client library's. */
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
