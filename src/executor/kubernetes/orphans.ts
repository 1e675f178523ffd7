/**
 * Pods that outlived their worker. Every pod names its owner, its unit and its epoch, so any process with the
 * store can tell whether its attempt is still current. If it is not, no worker waits for the pod.
 */

import { LABEL } from "./manifest.ts";
import { labelValue } from "./names.ts";
import type { Pod } from "./pod.ts";
import type { PodApi } from "./pod-api.ts";

export interface OwnedPod {
  readonly namespace: string;
  readonly name: string;
  readonly unit: string;
  readonly fence: number;
  /** The pod has ended and is kept for inspection. */
  readonly isKept: boolean;
}

/** True if this attempt still holds its claim. */
export type IsCurrent = (unit: string, fence: number) => Promise<boolean>;

export const ownedBy = (owner: string): string => `${LABEL.owner}=${labelValue(owner)}`;

export async function listOwned(api: PodApi, owner: string, namespace: string): Promise<OwnedPod[]> {
  const { pods } = await api.list(namespace, ownedBy(owner));
  return pods.flatMap((pod) => owned(pod, namespace) ?? []);
}

function owned(pod: Pod, namespace: string): OwnedPod | undefined {
  const { name, annotations } = pod.metadata;
  const unit = annotations?.[LABEL.unit];
  const fence = Number(annotations?.[LABEL.epoch]);
  if (unit === undefined || !Number.isSafeInteger(fence)) return undefined;
  return { namespace, name, unit, fence, isKept: isKept(pod) };
}

function isKept({ metadata, status }: Pod): boolean {
  const keep = metadata.labels?.[LABEL.keep];
  if (status?.phase === "Failed") return keep === "failed" || keep === "always";
  return status?.phase === "Succeeded" && keep === "always";
}
