// A worker that starts one pod and is then killed: node doomed-worker.ts KUBECONFIG

import { KubernetesExecutor } from "../../../src/executor/kubernetes/index.ts";

const executor = new KubernetesExecutor({ owner: "tests", kubeconfig: process.argv[2] ?? "" });
void executor.run({
  id: "doomed",
  name: "resize",
  input: "{}",
  attempt: 1,
  fence: 1,
  timeoutMs: null,
  signal: new AbortController().signal,
  pod: {
    image: "shop:1",
    namespace: "steps",
    command: null,
    serviceAccount: null,
    env: {},
    labels: {},
    resources: null,
    keep: "never",
  },
  progress: () => {},
  log: () => {},
});
