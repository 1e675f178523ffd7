import type { Finished, Stopped } from "../claiming/claims.ts";

/** Events of a worker, for logs and tests. */
export type WorkerEvent =
  | { readonly kind: "claimed"; readonly id: string; readonly held: boolean }
  | { readonly kind: "started"; readonly id: string; readonly name: string; readonly epoch: number }
  | { readonly kind: "finished"; readonly id: string; readonly to: Exclude<Finished, Stopped>["to"] }
  | { readonly kind: "refused"; readonly id: string }
  | { readonly kind: "sessionEnded" }
  /** The store is gone: all code was aborted, and the worker stops by itself. */
  | { readonly kind: "storeGone"; readonly error: unknown }
  | { readonly kind: "error"; readonly error: unknown };

export type Tell = (event: WorkerEvent) => void;
