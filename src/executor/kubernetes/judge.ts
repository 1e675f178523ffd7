/**
 * Judges an attempt by the state of its pod. A pod that failed by its own doing has failed. A pod that the
 * cluster took away (eviction, a lost node, a deletion by others) is lost, which says nothing about its code.
 */
import type { ErrorCode } from "../../core/error-code.ts";
import type { StoredError } from "../executor.ts";
import type { Pod, Terminated } from "./pod.ts";
import { stepContainer } from "./pod.ts";

type Judgement =
  /** Not running yet. The note is Kubernetes' reason, if it gives one. */
  | { readonly is: "pending"; readonly note?: string }
  /** It cannot start as things are. That may resolve by itself, so it gets some time. */
  | { readonly is: "stuck"; readonly reason: string; readonly message: string }
  | { readonly is: "running"; readonly node: string | undefined }
  /** Its deletion was requested. */
  | { readonly is: "leaving" }
  | { readonly is: "succeeded" }
  | { readonly is: "failed"; readonly error: StoredError }
  | { readonly is: "lost"; readonly why: string };

/** Reasons why Kubernetes itself ended a pod, or refused it on the chosen node. */
const TAKEN_AWAY = new Set([
  "Evicted",
  "NodeLost",
  "NodeShutdown",
  "NodeAffinity",
  "Shutdown",
  "Terminated",
  "Preempting",
]);

/** Reasons that waiting alone does not resolve. */
const STUCK = new Set([
  "ImagePullBackOff",
  "ErrImagePull",
  "ErrImageNeverPull",
  "InvalidImageName",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

export function judge(pod: Pod): Judgement {
  const { phase, reason } = pod.status ?? {};
  if (phase === "Succeeded") return { is: "succeeded" };
  if (phase === "Failed") return judgeFailed(pod);
  if (reason === "NodeLost") return { is: "lost", why: sentence(pod, "its node is lost") };
  if (pod.metadata.deletionTimestamp) return { is: "leaving" };
  const { state } = stepContainer(pod) ?? {};
  if (state?.running) return { is: "running", node: pod.spec?.nodeName };
  const waiting = state?.waiting;
  if (waiting?.reason && STUCK.has(waiting.reason))
    return { is: "stuck", reason: waiting.reason, message: waiting.message ?? "" };
  const note = unschedulable(pod);
  return note === undefined ? { is: "pending" } : { is: "pending", note };
}

function judgeFailed(pod: Pod): Judgement {
  const { reason } = pod.status ?? {};
  const ended = stepContainer(pod)?.state?.terminated;
  if (reason === "DeadlineExceeded") return { is: "failed", error: error("TIMEOUT", overDeadline(pod)) };
  const disrupted = pod.status?.conditions?.find(
    ({ type, status }) => type === "DisruptionTarget" && status === "True",
  );
  if (disrupted)
    return { is: "lost", why: sentence(pod, disrupted.reason ?? "it was disrupted", disrupted.message) };
  if (reason && TAKEN_AWAY.has(reason)) return { is: "lost", why: sentence(pod, reason) };
  if (pod.metadata.deletionTimestamp)
    return { is: "lost", why: sentence(pod, "it was deleted by somebody else") };
  // The node refused the pod, or no longer knows how it ended.
  if (!ended || ended.reason === "ContainerStatusUnknown")
    return { is: "lost", why: sentence(pod, reason ?? "its container never reported an end") };
  return { is: "failed", error: exitError(pod, ended) };
}

function exitError({ metadata }: Pod, { exitCode, reason, message }: Terminated): StoredError {
  if (reason === "OOMKilled")
    return error(
      "POD_OUT_OF_MEMORY",
      `Pod ${metadata.name} was killed because its memory was full (OOMKilled, exit code ${exitCode}). Give it a higher memory limit.`,
    );
  const why = [reason === "Error" ? undefined : reason, message?.trim()].filter(Boolean).join(": ");
  return error(
    "POD_FAILED",
    `Pod ${metadata.name} ended with exit code ${exitCode}${why ? ` (${why})` : ""}.`,
  );
}

const overDeadline = ({ metadata }: Pod): string =>
  `Pod ${metadata.name} took longer than its deadline, so Kubernetes ended it.`;

function unschedulable({ status }: Pod): string | undefined {
  const placed = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return placed?.status === "False" && placed.reason === "Unschedulable"
    ? `no node accepts it yet: ${placed.message ?? "Unschedulable"}`
    : undefined;
}

function sentence({ metadata, status }: Pod, why: string, more = status?.message): string {
  return `Pod ${metadata.name} is lost: ${why}${more ? ` (${more.trim()})` : ""}.`;
}

export const error = (code: ErrorCode, message: string): StoredError => ({
  name: "SluiceError",
  code,
  message,
});
