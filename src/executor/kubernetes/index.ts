/** Steps in pods. */
export type { Connection } from "./connection.ts";
export { KubernetesExecutor } from "./kubernetes-executor.ts";
export type { KubernetesExecutorOptions } from "./options.ts";
export type { IsCurrent, OwnedPod } from "./orphans.ts";
export type { PodEvent } from "./pod-event.ts";
