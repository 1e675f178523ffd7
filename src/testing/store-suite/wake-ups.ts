import { expect, test } from "vitest";
import type { StoreWith } from "../../store/capabilities.ts";

export function wakeUpSuite(open: () => Promise<{ readonly store: StoreWith<"wakeUps"> }>): void {
  test("is heard until one stops listening", async () => {
    const { store } = await open();
    const heard: string[] = [];
    const stop = await store.listen((hint) => heard.push(hint));
    heard.length = 0;
    store.hint("later");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toContain("later");
    await stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    heard.length = 0;
    store.hint("later");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(heard).toEqual([]);
  });
}
