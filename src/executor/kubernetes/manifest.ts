/** The manifest of an attempt's pod, as sent to Kubernetes. */
import type { PodSpec } from "../../core/workflow/graph.ts";
import type { Job } from "../executor.ts";
import { labelValue, podName } from "./names.ts";
import type { Pod } from "./pod.ts";
import { CONTAINER } from "./pod.ts";
import { STEP_VARIABLE, writeStep } from "./step-message.ts";

export const LABEL = {
  owner: "sluice.dev/owner",
  run: "sluice.dev/run",
  step: "sluice.dev/step",
  task: "sluice.dev/task",
  unit: "sluice.dev/unit",
  attempt: "sluice.dev/attempt",
  epoch: "sluice.dev/epoch",
  keep: "sluice.dev/keep",
} as const;

interface ManifestOptions {
  readonly owner: string;
  /** The command for pods that name none. */
  readonly command: readonly string[];
  readonly graceSeconds: number;
  /** Time for pulling the image, added to the timeout. */
  readonly startSeconds: number;
}

export interface Manifest extends Pod {
  readonly spec: Readonly<Record<string, unknown>>;
}

export function manifestOf(job: Job, pod: PodSpec, options: ManifestOptions): Manifest {
  const { owner } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podName(owner, job.id, job.fence, job.step?.name ?? job.name),
      namespace: pod.namespace,
      labels: { ...pod.labels, ...labelsOf(job, pod, owner) },
      // Labels may be shortened, and the sweep needs the exact values.
      annotations: { [LABEL.unit]: job.id, [LABEL.epoch]: String(job.fence), ...exactly(job) },
    },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: options.graceSeconds,
      ...(job.timeoutMs === null ? {} : { activeDeadlineSeconds: deadline(job.timeoutMs, options) }),
      // A step gets no access to the cluster unless it names a service account.
      ...(pod.serviceAccount === null
        ? { automountServiceAccountToken: false }
        : { serviceAccountName: pod.serviceAccount }),
      containers: [
        {
          name: CONTAINER,
          image: pod.image,
          command: pod.command ?? options.command,
          env: environment(job, pod),
          ...(pod.resources === null ? {} : { resources: pod.resources }),
        },
      ],
    },
  } as Manifest;
}

function labelsOf(job: Job, { keep }: PodSpec, owner: string): Record<string, string> {
  return {
    [LABEL.owner]: labelValue(owner),
    ...(job.step ? { [LABEL.run]: labelValue(job.step.run), [LABEL.step]: labelValue(job.step.name) } : {}),
    [LABEL.task]: labelValue(job.name),
    [LABEL.unit]: labelValue(job.id),
    [LABEL.attempt]: String(job.attempt),
    [LABEL.epoch]: String(job.fence),
    [LABEL.keep]: keep,
  };
}

const exactly = ({ name, step }: Job): Record<string, string> => ({
  [LABEL.task]: name,
  ...(step ? { [LABEL.run]: step.run, [LABEL.step]: step.name } : {}),
});

function environment(job: Job, { env }: PodSpec): { name: string; value: string }[] {
  const own = Object.entries(env).filter(([name]) => name !== STEP_VARIABLE);
  return [...own.map(([name, value]) => ({ name, value })), { name: STEP_VARIABLE, value: writeStep(job) }];
}

/**
 * Kubernetes counts from when a node accepts the pod, including the image pull. The step's own timeout starts
 * later.
 */
const deadline = (timeoutMs: number, { startSeconds }: ManifestOptions): number =>
  Math.min(2 ** 31 - 1, Math.ceil(timeoutMs / 1_000) + startSeconds);
