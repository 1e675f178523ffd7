import { describe, expect, test } from "vitest";
import { judge } from "./judge.ts";
import type { ContainerStatus, Pod, PodStatus } from "./pod.ts";

const pod = (status: PodStatus, metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name: "p", ...metadata },
  spec: { nodeName: "n1" },
  status,
});
const being = (state: NonNullable<ContainerStatus["state"]>): readonly ContainerStatus[] => [
  { name: "sidecar", state: { running: {} } },
  { name: "step", state },
];
const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const exited = being({ terminated: { exitCode: 1, reason: "Error" } });

describe("a pod that has not ended", () => {
  test.each<[string, Pod, object]>([
    ["has no status yet", { metadata: { name: "p" } }, { is: "pending" }],
    ["waits for its node", pod({ phase: "Pending" }), { is: "pending" }],
    [
      "is being made",
      pod({ phase: "Pending", containerStatuses: being({ waiting: { reason: "ContainerCreating" } }) }),
      { is: "pending" },
    ],
    [
      "has no image",
      pod({
        phase: "Pending",
        containerStatuses: being({ waiting: { reason: "ImagePullBackOff", message: "404" } }),
      }),
      { is: "stuck", reason: "ImagePullBackOff", message: "404" },
    ],
    [
      "runs",
      pod({ phase: "Running", containerStatuses: being({ running: {} }) }),
      { is: "running", node: "n1" },
    ],
    [
      "is told to go while it runs",
      pod({ phase: "Running", containerStatuses: being({ running: {} }) }, leaving),
      { is: "leaving" },
    ],
    ["is on a node that does not answer", pod({ phase: "Unknown" }), { is: "pending" }],
  ])("%s", (_, seen, expected) => expect(judge(seen)).toEqual(expected));

  test("says why no node takes it", () => {
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: "0/3 nodes",
    };
    expect(judge(pod({ phase: "Pending", conditions: [condition] }))).toEqual({
      is: "pending",
      note: "no node accepts it yet: 0/3 nodes",
    });
  });
});

describe("a pod that has failed", () => {
  test("by its own doing has failed, with its exit code", () => {
    const terminated = { exitCode: 139, reason: "Error", message: "last words\n" };
    expect(judge(pod({ phase: "Failed", containerStatuses: being({ terminated }) }))).toMatchObject({
      is: "failed",
      error: { code: "POD_FAILED", message: "Pod p ended with exit code 139 (last words)." },
    });
  });

  test("because its memory was full has failed, and says what to give it", () => {
    const terminated = { exitCode: 137, reason: "OOMKilled" };
    expect(judge(pod({ phase: "Failed", containerStatuses: being({ terminated }) }))).toMatchObject({
      is: "failed",
      error: { code: "POD_OUT_OF_MEMORY", message: expect.stringContaining("higher memory limit") },
    });
  });

  test("at its deadline has timed out, even if it was told to go", () => {
    expect(
      judge(pod({ phase: "Failed", reason: "DeadlineExceeded", containerStatuses: exited })),
    ).toMatchObject({
      is: "failed",
      error: { code: "TIMEOUT" },
    });
  });

  test.each<[string, Pod]>([
    ["evicted", pod({ phase: "Failed", reason: "Evicted", containerStatuses: exited })],
    [
      "on a node that was shut down",
      pod({ phase: "Failed", reason: "NodeShutdown", containerStatuses: exited }),
    ],
    [
      "preempted",
      pod({
        phase: "Failed",
        containerStatuses: exited,
        conditions: [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }],
      }),
    ],
    ["deleted by others while it ran", pod({ phase: "Failed", containerStatuses: exited }, leaving)],
    ["turned away by its node", pod({ phase: "Failed", reason: "OutOfcpu" })],
    [
      "forgotten by its node",
      pod({
        phase: "Failed",
        containerStatuses: being({ terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } }),
      }),
    ],
    ["on a lost node", pod({ phase: "Running", reason: "NodeLost" }, leaving)],
  ])("%s is lost", (_, seen) =>
    expect(judge(seen)).toMatchObject({ is: "lost", why: expect.stringMatching(/^Pod p is lost: /) }),
  );
});

test("a pod that succeeded has succeeded, even while it is deleted", () => {
  expect(judge(pod({ phase: "Succeeded" }, leaving))).toEqual({ is: "succeeded" });
});
