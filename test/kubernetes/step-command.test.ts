// `sluice step` as a pod runs it: its own process, with input from its environment and results in its output.

import { expect, test } from "vitest";
import { LogTail } from "../../src/executor/kubernetes/log-tail.ts";
import { Container } from "./support/container.ts";
import { done, job, openWorld } from "./support/world.ts";

/** How the container ended, as the executor would read it. */
async function end(container: Container): Promise<{ code: number | null; tail: LogTail }> {
  const code = await container.exited;
  const tail = new LogTail(7);
  tail.push(container.log);
  return { code, tail: tail.close() };
}

test("a pod that runs the command brings its result through the cluster", async () => {
  const { api, executor } = await openWorld();
  const progress: unknown[] = [];
  const attempt = {
    ...job({ name: "double", attempt: 2 }),
    progress: (value: unknown) => progress.push(value),
  };
  const ending = executor.run(attempt);
  const made = await api.pod();
  const container = Container.of(made);
  expect(await container.exited).toBe(0);
  api.cluster.succeed(made, container.log);
  expect(await ending).toEqual(done({ doubled: 8, id: "0190-unit", attempt: 2, fence: 7 }));
  expect(attempt.said).toEqual(["no end of line", "doubling"]);
  expect(progress).toEqual([{ done: 1 }]);
});

test("a step that fails says why, and the process ends with 1", async () => {
  const { code, tail } = await end(Container.told({ task: "fails" }));
  expect(code).toBe(1);
  expect(tail.ending).toMatchObject({
    ok: false,
    retryable: false,
    error: { name: "TypeError", message: "too small", stack: expect.any(String) },
  });
});

test("what the code says of its next attempt crosses the border of the pod", async () => {
  const [later, never] = await Promise.all([
    end(Container.told({ task: "busy", input: '{"wait":"5m"}' })),
    end(Container.told({ task: "busy", input: "{}" })),
  ]);
  expect(later.tail.ending).toMatchObject({ ok: false, retryable: true, next: { inMs: 300_000 } });
  expect(never.tail.ending).toMatchObject({ ok: false, retryable: false, error: { message: "no use" } });
});

test("what nobody caught is told, too", async () => {
  const { code, tail } = await end(Container.told({ task: "breaks" }));
  expect(code).toBe(1);
  expect(tail.ending).toMatchObject({ ok: false, retryable: true, error: { message: "nobody caught this" } });
});

test("code that leaves a timer behind does not keep the pod", async () => {
  const { code, tail } = await end(Container.told({ task: "lingers" }));
  expect(code).toBe(0);
  expect(tail.ending).toEqual(done("done"));
});

test("SIGTERM aborts the code's signal, and it may still say how it ended", async () => {
  const container = Container.told({ task: "waits" });
  await container.said("waiting");
  container.kill("SIGTERM");
  const { code, tail } = await end(container);
  expect(code).toBe(1);
  expect(tail.ending).toMatchObject({ ok: false, error: { code: "POD_STOPPED" } });
});

test("a timeout is kept by the step itself", async () => {
  const { tail } = await end(Container.told({ task: "waits", timeoutMs: 50 }));
  expect(tail.ending).toMatchObject({ ok: false, retryable: true, error: { code: "TIMEOUT" } });
});

test("a result that no log line should carry is refused", async () => {
  const { code, tail } = await end(Container.told({ task: "large" }));
  expect(code).toBe(1);
  expect(tail.ending).toMatchObject({ ok: false, retryable: false, error: { code: "RESULT_TOO_LARGE" } });
});

test("a task that the image does not have, and an app that is not there, are told like any failure", async () => {
  const [unknown, nowhere] = await Promise.all([
    end(Container.told({ task: "other" })),
    end(
      new Container({
        SLUICE_STEP: '{"id":"u","task":"t","input":"{}","fence":7}',
        SLUICE_APP: "nowhere.ts",
      }),
    ),
  ]);
  expect(unknown.tail.ending).toMatchObject({ ok: false, error: { code: "UNKNOWN_TASK" } });
  expect(nowhere.tail.ending).toMatchObject({ ok: false, error: { code: "NO_APP_FILE" } });
});

test("without a step to run it says whom it is for", async () => {
  const container = new Container({}, ["app.ts"]);
  expect(await container.exited).toBe(1);
  expect(container.log).toContain("error NO_STEP: SLUICE_STEP must hold the step to run");
});
