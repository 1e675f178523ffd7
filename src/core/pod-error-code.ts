/** The codes of steps in pods. `error-code.ts` has all others. */
export const OF_PODS = {
  INPUT_TOO_LARGE: {
    means: "The input is too large to pass to a pod.",
    cure: "Store the data elsewhere and pass a reference to it.",
  },
  KUBERNETES_AWAY: { means: "The Kubernetes API did not answer.", cure: "Nothing: the worker asks again." },
  KUBERNETES_REFUSED: {
    means: "The Kubernetes API refused a request.",
    cure: "Read the cause. Check the rights of the worker's account.",
  },
  NO_CLUSTER: {
    means: "No cluster can be reached with the given configuration.",
    cure: "Check the kubeconfig.",
  },
  NO_KUBERNETES_CLIENT: {
    means: "The package for Kubernetes is not installed.",
    cure: "Install @kubernetes/client-node.",
  },
  NO_POD: { means: "The step runs in a pod, but has no image.", cure: "Name an image." },
  NO_RESULT: {
    means: "The pod succeeded, but the end of its log holds no result.",
    cure: "Let the command of the pod run the step, or print the result line.",
  },
  POD_FAILED: { means: "The pod ended with an error.", cure: "Read its log." },
  POD_LOST: {
    means: "The pod is gone, and nobody knows how it ended.",
    cure: "The option retry decides whether another attempt follows.",
  },
  POD_NAME_TAKEN: { means: "A pod with this name was created for something else.", cure: "Delete it." },
  POD_NOT_STARTED: { means: "The pod did not start in time.", cure: "Check image, resources and quotas." },
  POD_OUT_OF_MEMORY: {
    means: "The pod used more memory than its limit allows.",
    cure: "Raise its memory limit.",
  },
  POD_STOPPED: {
    means: "The pod was told to stop.",
    cure: "The option retry decides whether another attempt follows.",
  },
  RESULT_CUT_OFF: {
    means: "The line with the result is cut off in the log.",
    cure: "Return a smaller result.",
  },
  RESULT_LOST: {
    means: "The log with the result could not be read.",
    cure: "The option retry decides whether another attempt follows.",
  },
} as const satisfies Record<string, { readonly means: string; readonly cure: string }>;
