// Code that holds a lock until the test lets it go, and the order in which it began.

import { task } from "../../../src/index.ts";
import { until } from "../../e2e/support/until.ts";

export function holders() {
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  const hold = task({
    id: "hold",
    run: (name: string) =>
      new Promise<string>((resolve) => {
        begun.push(name);
        open.set(name, () => resolve(name));
      }),
  });
  return {
    hold,
    begun,
    /** Waits until that code runs, and lets it end. */
    letGo: async (name: string): Promise<void> => {
      const end = await until(() => open.get(name), `${name} holds`);
      open.delete(name);
      end();
    },
    hasBegun: (...names: string[]): Promise<unknown> =>
      until(() => names.every((name) => begun.includes(name)), `${names.join(", ")} began`),
  };
}
