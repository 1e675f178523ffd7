import { describe, expect, test } from "vitest";
import type { ClientCall } from "../../core/task/client-call.ts";
import type { TaskContext } from "../../core/task/definition.ts";
import { task } from "../../core/task/definition.ts";
import type { Ending, Job } from "../executor.ts";
import { FunctionExecutor } from "./function-executor.ts";

const mail = task({ id: "mail", run: (_: { to: string }) => {} });

function running(run: (context: TaskContext) => unknown, more: Partial<Job> = {}): Promise<Ending> {
  const asks = task({ id: "asks", run: (_: unknown, context) => run(context) });
  const job: Job = {
    id: "id1",
    name: "asks",
    input: "{}",
    attempt: 1,
    fence: 7,
    timeoutMs: null,
    signal: new AbortController().signal,
    progress: () => {},
    log: () => {},
    ...more,
  };
  return new FunctionExecutor(new Map([["asks", asks]])).run(job);
}

const calls: ClientCall[] = [];
const call = async (asked: ClientCall): Promise<unknown> => {
  calls.push(asked);
  return { id: "new", created: true };
};

describe("the context", () => {
  test("names the run and the step, if the task is one", async () => {
    const seen = async (step?: Job["step"]) =>
      running(({ run = "none", step: name = "none" }) => [run, name], { step });
    expect(await seen({ run: "r", name: "s" })).toEqual({ ok: true, result: '["r","s"]' });
    expect(await seen()).toEqual({ ok: true, result: '["none","none"]' });
  });
});

describe("the client", () => {
  test("starts nothing after the code has ended, however it was got", async () => {
    for (const end of ["returns", "throws"]) {
      calls.length = 0;
      let kept: TaskContext | undefined;
      let client: TaskContext["client"] | undefined;
      await running(
        (context) => {
          kept = context;
          if (end === "throws") throw new Error("no");
          client = context.client;
        },
        { call },
      );
      const late = [kept?.client, client].filter((one) => one !== undefined);
      for (const one of late)
        await expect(one.enqueue(mail, { to: "a" })).rejects.toMatchObject({ code: "TASK_ENDED" });
      expect(late).toHaveLength(end === "throws" ? 1 : 2);
      expect(calls).toEqual([]);
    }
  });

  test("answers a call that was made in time, even if the code does not wait for it", async () => {
    let open: Promise<unknown> | undefined;
    let answer = (_: unknown): void => {};
    const slow = (): Promise<unknown> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const ending = running(
      ({ client }) => {
        open = client.run();
      },
      { call: slow },
    );
    expect(await ending).toMatchObject({ ok: true });
    answer("an answer");
    expect(await open).toBe("an answer");
  });

  test("hands calls on as plain data, by the id of what is called", async () => {
    calls.length = 0;
    const runAt = new Date(5);
    await running(
      async ({ client }) => {
        await client.enqueue(mail, { to: "a" }, { key: "a", runAt });
        await client.submit("nightly", undefined, { tags: { env: "prod" } });
        await client.run();
      },
      { call },
    );
    expect(calls).toEqual([
      { verb: "enqueue", task: "mail", input: '{"to":"a"}', options: { key: "a", runAt } },
      { verb: "submit", workflow: "nightly", input: "", options: { tags: { env: "prod" } } },
      { verb: "run" },
    ]);
  });

  test("refuses an input that JSON would not keep, before it is handed on", async () => {
    calls.length = 0;
    const ending = await running(({ client }) => client.enqueue(mail, { to: 1n as never }), { call });
    expect(ending).toMatchObject({ ok: false, error: { code: "BAD_INPUT" } });
    expect(calls).toEqual([]);
  });

  test("starts nothing more for code that was told to stop, by its worker or by its timeout", async () => {
    calls.length = 0;
    const controller = new AbortController();
    const late = ({ client }: TaskContext) => client.enqueue(mail, { to: "a" });
    controller.abort(Object.assign(new Error("cancelled"), { code: "CANCELLED" }));
    expect(await running(late, { call, signal: controller.signal })).toMatchObject({
      error: { code: "CANCELLED" },
    });
    let refused: unknown;
    await running(
      async (context) => {
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        await late(context).catch((error: unknown) => {
          refused = error;
        });
      },
      { call, timeoutMs: 5 },
    );
    expect(refused).toMatchObject({ code: "TIMEOUT" });
    expect(calls).toEqual([]);
  });

  test("says so where there is no way to the store", async () => {
    expect(await running(({ client }) => client.run())).toMatchObject({
      ok: false,
      error: { code: "NO_CLIENT", message: expect.stringContaining('task "asks"') },
    });
  });
});
