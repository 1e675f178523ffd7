import { describe, expect, test } from "vitest";
import { World } from "../../../test/support/trigger-world.ts";
import { automation, newer, succeeded } from "../../core/schedule/definition.ts";

describe("an automation", () => {
  test("submits each time all of the others have succeeded", async () => {
    const world = new World();
    await world.start({ automations: [automation({ workflow: "c", when: succeeded("a", "b") })] });
    world.succeed("a");
    await world.env.advance(5_000);
    expect(await world.keys()).toEqual([]);
    world.succeed("b");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(1);
    world.succeed("b");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(1);
    world.succeed("a");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(2);
  });

  test("does not count what was before it was declared", async () => {
    const world = new World();
    world.succeed("a");
    world.env.freeze(1);
    await world.start({ automations: [automation({ workflow: "c", when: succeeded("a") })] });
    await world.env.advance(5_000);
    expect(await world.keys()).toEqual([]);
    world.succeed("a");
    await world.env.advance(2_000);
    expect(await world.keys()).toHaveLength(1);
  });

  test("with newer waits for a run in progress that somebody else has made", async () => {
    const world = new World();
    const options = { key: "by hand", tags: {}, priority: undefined, source: "test" };
    await world.store.submit([{ ...(await world.toRun("c", null, options)), direct: true }]);
    world.succeed("a");
    await world.start({ automations: [automation({ id: "fresh", workflow: "c", when: newer("a") })] });
    await world.env.advance(5_000);
    expect(await world.keys()).toEqual(["by hand"]);
    const [run] = await world.store.runs({ limit: 1 });
    await world.store.cancelRun(run?.id ?? "", "test");
    await world.env.advance(2_000);
    expect(await world.keys()).toHaveLength(2);
  });

  test("with newer waits while a run of its workflow is queued or in progress, whoever made it", async () => {
    const world = new World();
    world.succeed("a");
    await world.start({ automations: [automation({ id: "fresh", workflow: "c", when: newer("a") })] });
    expect(await world.keys()).toHaveLength(1);
    world.env.freeze(10);
    world.succeed("a");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(1);
    await world.finish();
    await world.env.advance(2_000);
    expect(await world.keys()).toHaveLength(2);
    await world.finish();
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(2);
  });

  test("whose run is refused stays due, and says why", async () => {
    const world = new World();
    world.refusal = new Error("not today");
    world.succeed("a");
    await world.start({ automations: [automation({ workflow: "c", when: newer("a") })] });
    await world.env.advance(3_000);
    expect(await world.state("automation c")).toMatchObject({ error: { message: "not today" } });
    world.refusal = undefined;
    await world.env.advance(1_000);
    expect(await world.keys()).toHaveLength(1);
    expect(await world.state("automation c")).not.toHaveProperty("error");
  });
});
