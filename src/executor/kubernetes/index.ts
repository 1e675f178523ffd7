/** Steps in pods. */
export type { Connection } from "./connection.ts";
export { KubernetesExecutor, type KubernetesOptions } from "./kubernetes-executor.ts";
export type { IsCurrent, OwnedPod } from "./orphans.ts";
export type { PodEvent } from "./pod-event.ts";
