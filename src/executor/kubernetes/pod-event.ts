/** Events of pods, for logs and tests. */
export type PodEvent =
  | { readonly kind: "created"; readonly namespace: string; readonly pod: string }
  | {
      readonly kind: "running";
      readonly namespace: string;
      readonly pod: string;
      readonly node: string | undefined;
    }
  | { readonly kind: "deleted"; readonly namespace: string; readonly pod: string }
  /** The API did not answer, `failures` times in a row. */
  | { readonly kind: "away"; readonly reason: string; readonly failures: number };
