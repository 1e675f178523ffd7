import { expect, test } from "vitest";
import { SluiceError } from "../../core/error.ts";
import { answered, answerTo } from "./answer.ts";

/** There and back, as over the channel. */
const over = async (call: () => Promise<unknown>): Promise<unknown> =>
  answered(structuredClone(await answerTo(call)));

test("an answer comes over as it is, nothing included", async () => {
  expect(await over(async () => ({ id: "a", at: new Date(5) }))).toEqual({ id: "a", at: new Date(5) });
  expect(await over(async () => undefined)).toBeUndefined();
});

test("an error of ours keeps its code, its remedies and its details", async () => {
  const error = new SluiceError("ASKS_TOO_MUCH", "too much.", {
    details: { gate: "pool:gpu" },
    remedies: [{ action: "setLimit", gate: "pool:gpu", limit: 3 }],
  });
  const back = await over(() => Promise.reject(error)).catch((thrown: unknown) => thrown);
  expect(back).toBeInstanceOf(SluiceError);
  const { code, sentence, message, remedies, details } = error;
  expect(back).toMatchObject({ code, sentence, message, remedies, details });
});

test("any other error keeps its name, its message and its code", async () => {
  const error = Object.assign(new TypeError("gone"), { code: "E_GONE" });
  const back = await over(() => Promise.reject(error)).catch((thrown: unknown) => thrown);
  expect(back).toBeInstanceOf(Error);
  expect(back).toMatchObject({ name: "TypeError", message: "gone", code: "E_GONE" });
  await expect(over(() => Promise.reject("words"))).rejects.toThrow("words");
});
