/**
 * Creates the pod of an attempt exactly once. The pod's name belongs to the attempt, so after a lost answer
 * we repeat the request: "already exists" then means that the first request did arrive.
 */
import { SluiceError } from "../../core/error.ts";
import type { Failed } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { LABEL } from "./manifest.ts";
import type { Pod } from "./pod.ts";
import type { PodApi } from "./pod-api.ts";
import { ApiAway, ApiRefused } from "./request.ts";

/** Returns undefined if the pod was created before and is already gone. */
export async function createOnce(api: PodApi, manifest: Pod): Promise<Pod | undefined> {
  const { name, namespace = "default" } = manifest.metadata;
  try {
    return await api.create(namespace, manifest);
  } catch (error) {
    if (!(error instanceof ApiRefused) || error.status !== 409) throw error;
    const there = await api.get(namespace, name);
    if (there && !isSame(there, manifest)) throw nameTaken(namespace, name, error);
    // Quotas that change at the same moment also answer 409, and then nothing was created.
    if (!there && error.reason !== "AlreadyExists") throw new ApiAway(error.message, error);
    return there;
  }
}

export function isSame(pod: Pod, { metadata }: Pod): boolean {
  const { labels, annotations } = pod.metadata;
  return (
    labels?.[LABEL.owner] === metadata.labels?.[LABEL.owner] &&
    annotations?.[LABEL.unit] === metadata.annotations?.[LABEL.unit] &&
    annotations?.[LABEL.epoch] === metadata.annotations?.[LABEL.epoch]
  );
}

function nameTaken(namespace: string, name: string, cause: unknown): SluiceError {
  return new SluiceError(
    "POD_NAME_TAKEN",
    `Pod ${namespace}/${name} already exists and was not created for this attempt. Delete it, and try again.`,
    { cause },
  );
}

/** An invalid pod will be invalid the next time, too. Rights and quotas can be fixed in the meantime. */
export function notCreated(error: unknown): Failed {
  const isWrong = error instanceof ApiRefused && [400, 413, 422].includes(error.status);
  return { ok: false, error: storedError(error), retryable: !isWrong };
}
