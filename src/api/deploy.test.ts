import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { task } from "../core/task/definition.ts";
import { workflow } from "../core/workflow/definition.ts";
import { openMemory } from "../store/memory/index.ts";
import type { Store } from "../store/store.ts";
import { defineApp } from "./app.ts";
import { appName } from "./app-name.ts";
import { connect } from "./connect.ts";
import { examine } from "./doctor/doctor.ts";

const work = task({ id: "work", pools: { gpu: 2 }, run: () => 1 });
const order = workflow({ id: "order", steps: (s) => s.step("work", work) });
const shop = (limit: number, clusterCap?: number) =>
  defineApp({
    name: "shop",
    tasks: [work],
    pools: { gpu: { limit } },
    ...(clusterCap === undefined ? {} : { clusterCap }),
  });

/** Everything that a declaration could change. */
const declared = async (store: Store) => [await store.gates(), await store.queues(), await store.triggers()];

describe("whoever connects to enqueue or to look", () => {
  test("changes no limit: not of its own app, and not of another", async () => {
    const store = openMemory();
    const first = await connect({ store, app: shop(5, 2) });
    expect(await declared(store)).toEqual([[], [], expect.objectContaining({ triggers: [] })]);
    await first.deploy();
    const before = await declared(store);
    const other = await connect({
      store,
      app: defineApp({ name: "web", tasks: [task({ id: "t", run: () => 1 })] }),
    });
    const older = await connect({ store, app: shop(9) });
    await other.limits.list();
    await older.queues.list();
    expect((await declared(store)).slice(0, 2)).toEqual(before.slice(0, 2));
    await other.enqueue("t", undefined as never);
    await older.enqueue("work", undefined as never);
    expect(await store.limits(["cluster", "pool:gpu"])).toEqual(
      new Map([
        ["cluster", 2],
        ["pool:gpu", 5],
      ]),
    );
  });

  test("is refused what could never start by the limit that its app will bring, where there is none yet", async () => {
    const store = openMemory();
    const sluice = await connect({ store, app: shop(5) });
    const many = task({ id: "many", pools: () => ({ gpu: 6 }), run: () => 1 });
    const app = defineApp({ name: "shop", tasks: [many], pools: { gpu: { limit: 5 } } });
    const asking = await connect({ store, app });
    await expect(asking.enqueue(many, undefined as never)).rejects.toMatchObject({ code: "ASKS_TOO_MUCH" });
    // Once the store has a limit, that limit counts.
    await sluice.limits.set("pool:gpu", 6);
    await expect(asking.enqueue(many, undefined as never)).resolves.toMatchObject({ created: true });
  });

  test("is told, where nobody has declared a pool yet, what would", async () => {
    const store = openMemory();
    const sluice = await connect({ store, app: shop(5) });
    const { id } = await sluice.enqueue(work, undefined as never);
    const said = async () => (await sluice.explain(id)).sentences.map(({ text }) => text);
    expect(await said()).toContainEqual(
      'pool "gpu" has no limit yet, so it admits nothing: start a worker of the app that declares it, or deploy that app',
    );
    await sluice.deploy();
    expect((await said()).join()).not.toContain("no limit yet");
  });
});

describe("a worker", () => {
  test("declares its app when it starts, once, and says what became of it", async () => {
    const store = openMemory();
    await using sluice = await connect({ store, app: shop(5) });
    const { deployed } = await sluice.worker();
    expect(deployed).toMatchObject({ app: "shop", inForce: true });
    expect(await store.limits(["pool:gpu"])).toEqual(new Map([["pool:gpu", 5]]));
  });

  test("of an old version leaves the limits of the later deploy, unless it is told to deploy", async () => {
    const store = openMemory();
    const versions = [shop(5), shop(2)] as const;
    for (const app of versions) {
      const sluice = await connect({ store, app });
      await (await sluice.worker()).stop();
    }
    await using old = await connect({ store, app: versions[0] });
    expect((await old.worker()).deployed).toMatchObject({ app: "shop", inForce: false });
    expect(await store.limits(["pool:gpu"])).toEqual(new Map([["pool:gpu", 2]]));
    expect((await old.worker({ deploy: true })).deployed).toMatchObject({ inForce: true });
    expect(await store.limits(["pool:gpu"])).toEqual(new Map([["pool:gpu", 5]]));
  });

  test("needs an app, and so does everything else that needs to know tasks or workflows", async () => {
    const store = openMemory();
    await using owner = await connect({
      store,
      app: defineApp({ tasks: [work], workflows: [order], pools: { gpu: { limit: 2 } } }),
    });
    const { id } = await owner.submit(order, undefined);
    await owner.runs.cancel(id);
    await using sluice = await connect({ store });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => sluice.worker(),
      () => sluice.deploy(),
      () => sluice.enqueue("work", undefined),
      () => sluice.enqueue(work, undefined),
      () => sluice.enqueueMany([{ task: work, input: undefined }]),
      () => sluice.submit(order, undefined),
      () => sluice.execute("order", undefined),
      () => sluice.runs.rerun(id),
      () => sluice.schedules.trigger("nightly"),
    ];
    for (const call of calls)
      await expect(call(), String(call)).rejects.toMatchObject({
        code: "NO_APP",
        message: expect.stringContaining("connect({ app })"),
      });
  });
});

describe("apps that disagree", () => {
  test("are told by the doctor, each with its word and what holds", async () => {
    const store = openMemory();
    const deploy = async (name: string, limit: number, rank: number) => {
      const app = defineApp({ name, tasks: [], pools: { gpu: { limit } }, queues: { mail: { rank } } });
      await (await connect({ store, app })).deploy();
    };
    const apps = async () => {
      const { checks } = await examine(store, { wall: Date.now, sleep: async () => {} });
      return checks.find(({ check }) => check === "apps");
    };
    await deploy("shop", 5, 3);
    await deploy("web", 5, 3);
    expect(await apps()).toMatchObject({ verdict: "ok", says: "2 apps, none in conflict" });
    await deploy("web", 7, 1);
    expect(await apps()).toMatchObject({
      verdict: "warn",
      findings: [
        { text: 'pool "gpu": app "shop" declares 5, app "web" declares 7; the strictest is in force, 5' },
        {
          text: 'queue "mail": app "shop" gives it rank 3, app "web" gives it rank 1; the lowest applies, 1',
        },
      ],
    });
  });
});

describe("the name of an app", () => {
  const folder = (json?: string): string => {
    const made = mkdtempSync(join(tmpdir(), "sluice-name-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    mkdirSync(join(made, "src"));
    if (json !== undefined) writeFileSync(join(made, "package.json"), json);
    return join(made, "src", "app.ts");
  };
  const plain = defineApp({ tasks: [] });

  test("is its own, or that of its package, or else default", () => {
    expect(appName(defineApp({ name: "shop", tasks: [] }), folder('{"name":"pack"}'))).toBe("shop");
    expect(appName(plain, folder('{"name":"@acme/pack"}'))).toBe("@acme/pack");
    expect(appName(plain, folder('{"name":"no name\\u0000"}'))).toBe("default");
    expect(appName(plain, folder("{}"))).toBe("default");
    expect(appName(plain, folder("not json"))).toBe("default");
    expect(appName(plain)).toBe("sluice");
  });

  test.each(["", "a b", "x".repeat(101), "\u0000", 5 as never])("cannot be %j", (name) => {
    expect(() => defineApp({ name, tasks: [] })).toThrow(/^.*name: /s);
  });
});
