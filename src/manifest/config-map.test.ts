import { expect, test } from "vitest";
import { configMapsIn } from "./config-map.ts";

test("every ConfigMap of a file is read, and other manifests are left out", () => {
  const text = `apiVersion: v1
kind: ConfigMap
metadata:
 name: my-config
data:
  workflow: "1"  # Only one Workflow can run at given time in particular namespace
  template: 2
---
kind: Secret
metadata: { name: other }
---
kind: ConfigMap
metadata: { name: more, namespace: team }
`;
  expect(configMapsIn(text)).toEqual([
    { name: "my-config", namespace: null, limits: { workflow: 1, template: 2 } },
    { name: "more", namespace: "team", limits: {} },
  ]);
  expect(configMapsIn("")).toEqual([]);
});

test.each([
  ["kind: ConfigMap\ndata: { a: 1 }", "no metadata.name"],
  ["kind: ConfigMap\nmetadata: { name: m }\ndata: { a: many }", 'a must be a limit: .*got "many"'],
  ["kind: ConfigMap\nmetadata: { name: m }\ndata: { a: '-2' }", "a must be a limit"],
  ["kind: ConfigMap\nmetadata: { name: m }\ndata: { a/b: '2' }", 'more than one "/"'],
  ["kind: ConfigMap\nmetadata: { name: m, namespace: a/b }", "cannot be a namespace"],
  ["kind: ConfigMap\nmetadata: { name: m }\ndata: [1]", "data must be a map"],
  ["kind: [", "flow"],
])("%j is refused", (text, words) => {
  expect(() => configMapsIn(text)).toThrow(new RegExp(words, "i"));
});
