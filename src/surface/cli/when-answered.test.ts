import { expect, test } from "vitest";
import { SluiceError } from "../../core/error.ts";
import { whenAnswered } from "./when-answered.ts";

const away = Object.assign(new Error("connection lost"), { code: "CONNECTION_LOST" });
const never = new AbortController().signal;

test.each([
  ["as a driver says it", away],
  ["as the store says it", new SluiceError("STORE_UNREACHABLE", "it could not be reached")],
])("a question is asked again while the store is away, %s", async (_, error) => {
  let asked = 0;
  const ask = async (): Promise<string> => {
    asked += 1;
    if (asked === 1) throw error;
    return "answer";
  };
  expect(await whenAnswered(ask, never)).toBe("answer");
  expect(asked).toBe(2);
});

test("what is wrong for another reason is told at once", async () => {
  const wrong = new Error("no such table");
  await expect(whenAnswered(() => Promise.reject(wrong), never)).rejects.toBe(wrong);
});

test("whoever stops does not wait for a store that is away", async () => {
  const stopping = new AbortController();
  const asking = whenAnswered(() => Promise.reject(away), stopping.signal);
  stopping.abort();
  await expect(asking).rejects.toBe(away);
});
