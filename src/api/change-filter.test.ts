import { expect, test } from "vitest";
import { openMemory } from "../store/memory/index.ts";
import { connect } from "./connect.ts";
import type { ChangeFilter } from "./feed.ts";

/** Begins to listen with a filter that may bypass the type checker. */
async function begun(filter: unknown): Promise<string> {
  await using sluice = await connect({ store: openMemory() });
  return sluice.changes(filter as ChangeFilter).begin();
}

test("a filter that does not exist is refused, because without it every change would match", async () => {
  await expect(begun({ quue: "mail" })).rejects.toMatchObject({
    code: "BAD_OPTIONS",
    message: expect.stringContaining('"quue" is not a known option. Did you mean "queue"?'),
  });
  await expect(begun("mail")).rejects.toMatchObject({ code: "BAD_OPTIONS" });
  await begun({ queue: "mail", quue: undefined });
});

test.each(["0s", "0ms", "1h1ms", "2h", "30d"])(
  "a keep of %s is refused, and the range is named",
  async (keep) => {
    await expect(begun({ keep })).rejects.toMatchObject({
      code: "BAD_OPTIONS",
      message: `changes: keep must be longer than 0s and at most 1h, but is "${keep}".`,
    });
  },
);

test.each(["1ms", "30s", "1h"])("a keep of %s is accepted", async (keep) => {
  expect(await begun({ keep })).toMatch(/\.0$/);
});

test("what is no duration, no text, no kind or no cursor is refused by its own code", async () => {
  await expect(begun({ keep: 30 })).rejects.toMatchObject({ code: "BAD_DURATION" });
  await expect(begun({ queue: 5 })).rejects.toMatchObject({ code: "BAD_TEXT" });
  await expect(begun({ task: "" })).rejects.toMatchObject({ code: "BAD_TEXT" });
  await expect(begun({ kinds: ["TaskEnqueud"] })).rejects.toMatchObject({ code: "UNKNOWN_KIND" });
  await expect(begun({ after: "nonsense" })).rejects.toMatchObject({ code: "BAD_CURSOR" });
});
