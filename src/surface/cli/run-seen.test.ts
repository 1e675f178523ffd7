import { expect, test } from "vitest";
import type { Sluice } from "../../api/sluice.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { lookAt } from "./run-seen.ts";

const full = (gate: string, held: number, holder: string): Reason => ({
  kind: "full",
  gate,
  limit: 5,
  held,
  asked: 2,
  ahead: held,
  holders: [{ unit: holder, name: "sync", slots: held, since: held, session: "s" }],
});

function seenWith(
  state: "queued" | "started",
  reasons: readonly Reason[],
): Promise<{ gist: string | undefined }> {
  const sentences = [{ text: JSON.stringify(reasons) }];
  const sluice = {
    runs: {
      why: async () => ({
        run: { state, steps: [] },
        now: 9,
        waiting: [{ step: "mail", reasons, sentences }],
      }),
    },
    queue: { why: async () => ({ reasons, sentences }) },
  } as unknown as Sluice;
  return lookAt(sluice, "r").then(({ whys, why }) => ({
    gist: (state === "queued" ? why : whys.get("mail"))?.gist,
  }));
}

test.each(["queued", "started"] as const)(
  "a wait of a run that is %s is news if its gates or kinds change, and not if only its holders do",
  async (state) => {
    const before = await seenWith(state, [full("pool:gpu", 4, "a")]);
    expect(await seenWith(state, [full("pool:gpu", 5, "b")])).toEqual(before);
    expect(await seenWith(state, [full("pool:disk", 4, "a")])).not.toEqual(before);
    expect(await seenWith(state, [{ kind: "paused", gate: "pool:gpu", ahead: 0 }])).not.toEqual(before);
  },
);
