// A run whose steps are pods, from its submission to its end. The gate decides how many run at once.

import { expect, onTestFinished, test } from "vitest";
import type { StepMessage } from "../../src/executor/kubernetes/step-message.ts";
import { connect, defineApp, kubernetes, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import type { KubeApi } from "../support/kube-api.ts";
import type { ClusterPod } from "../support/kube-cluster.ts";
import { logOf, openWorld } from "./support/world.ts";

const render = task({ id: "render", run: (input: { n: number }) => ({ n: input.n }) });
const sum = task({ id: "sum", run: (input: { parts: { n: number }[] }) => ({ total: input.parts.length }) });

const film = workflow({
  id: "film",
  executor: kubernetes({ image: "film:1", namespace: "steps", maxConcurrentSteps: 2 }),
  steps: (s) => {
    const parts = [1, 2, 3, 4, 5, 6].map((n) => s.step(`render-${n}`, render, { n }));
    return s.step("sum", sum, { parts: parts.map(({ output }) => output) });
  },
});

const app = defineApp({ tasks: [render, sum], workflows: [film] });

function messageOf(pod: ClusterPod): StepMessage {
  const [container] = pod.spec.containers as { env: { name: string; value: string }[] }[];
  return JSON.parse(container?.env.find(({ name }) => name === "SLUICE_STEP")?.value ?? "{}") as StepMessage;
}

/**
 * A cluster that does what it is asked, one change at a time. `most` is the highest number of pods alive at
 * once.
 */
function serve(api: KubeApi): { readonly most: number } {
  const seen = { most: 0 };
  const served = new Set<string>();
  const stop = api.cluster.onChange(() => {
    const alive = api.cluster.pods.filter(
      ({ status }) => !["Succeeded", "Failed"].includes(status?.phase ?? ""),
    );
    seen.most = Math.max(seen.most, alive.length);
    // A pod may end only once the second one has come, so the cap is reached whenever there is enough work.
    const fresh = alive.filter(({ metadata }) => !served.has(metadata.name));
    const isLast = alive[0] !== undefined && messageOf(alive[0]).task === "sum";
    if (alive.length < 2 && !isLast && served.size < 5) return;
    for (const pod of fresh) {
      served.add(pod.metadata.name);
      setImmediate(() => {
        const { fence, task: name } = messageOf(pod);
        api.cluster.run(pod);
        api.cluster.succeed(pod, logOf(name === "sum" ? { total: 6 } : { n: 1 }, fence));
      });
    }
  });
  onTestFinished(() => void stop());
  return seen;
}

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("each step is a pod, never more than maxConcurrentSteps of them, and the run has its result", async () => {
    const { api, kubeconfig } = await openWorld();
    const seen = serve(api);
    await using sluice = await connect({ store: await place.open(), app, migrate: true });
    await sluice.worker({ slots: 10, cluster: { owner: "tests", kubeconfig } });
    const { id } = await sluice.submit(film, undefined);
    const run = await sluice.runs.ended<typeof film>(id);
    expect(run).toMatchObject({ state: "succeeded", result: { total: 6 } });
    expect(seen.most).toBe(2);
    expect(api.cluster.created).toHaveLength(7);
    const steps = api.cluster.created.map(({ metadata }) => metadata.labels?.["sluice.dev/run"]);
    expect(new Set(steps)).toEqual(new Set([id]));
  });
});
