import { expect, test } from "vitest";
import { sayAlso, sayShared, sharedAmong, sharedWith } from "./shared-names.ts";

const app = (name: string, tasks: readonly string[], workflows: readonly string[] = []) => ({
  app: name,
  tasks,
  workflows,
});

test("names that other apps declare are grouped by those apps, and a version of the same app is none", () => {
  const all = [
    app("gamma", ["mail", "x"]),
    app("beta", ["mail", "bill", "send"], ["nightly"]),
    app("alpha", ["mail", "old"]),
  ];
  const mine = app("alpha", ["send", "mail", "bill", "own", "old"], ["nightly", "mail"]);
  expect(sharedWith(mine, all)).toEqual([
    { kind: "task", names: ["bill", "send"], apps: ["beta"] },
    { kind: "task", names: ["mail"], apps: ["beta", "gamma"] },
    { kind: "workflow", names: ["nightly"], apps: ["beta"] },
  ]);
  expect(sharedAmong(all)).toEqual([{ kind: "task", names: ["mail"], apps: ["alpha", "beta", "gamma"] }]);
  expect(sharedAmong(all.slice(1, 2))).toEqual([]);
});

test("the sentences say what the apps share", () => {
  expect(sayAlso({ kind: "task", names: ["mail"], apps: ["beta"] })).toBe(
    'task "mail" is also declared by app "beta". Either app may run it, and both share its idempotency keys.',
  );
  expect(sayAlso({ kind: "workflow", names: ["a", "b"], apps: ["beta", "web"] })).toBe(
    'workflows "a", "b" are also declared by app "beta", app "web". Any of these apps may run them, and all share their idempotency keys. Automations of each app react to their runs.',
  );
  expect(sayShared({ kind: "task", names: ["mail"], apps: ["alpha", "beta"] })).toBe(
    'task "mail" is declared by app "alpha", app "beta": each of these apps may run it, and they share its idempotency keys',
  );
  const many = Array.from({ length: 12 }, (_, n) => `t${n}`);
  expect(sayShared({ kind: "task", names: many, apps: ["a", "b"] })).toContain(
    '"t9" and 2 more are declared',
  );
});
