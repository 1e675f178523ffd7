import { expect, test } from "vitest";
import { checkKey, isKey } from "./check-key.ts";

test.each([
  ["cluster:x", /only one gate of its kind, with the key "cluster"/],
  ["cluster:", /with the key "cluster"/],
  ["runs:x", /with the key "runs"/],
  ["pool:*", /cannot contain "\*".*pool:tenant=\*/],
  ["pool:x*", /cannot contain "\*"/],
  ["queue:*", /cannot contain "\*"/],
  ["mutex:*", /cannot contain "\*"/],
  ["mutex:books", /Write the namespace too, like mutex:default\/books/],
  ["mutex:default/", /must not be empty/],
  ["mutex:/books", /cannot be a namespace: it must not be empty/],
  ["mutex:default/a=b", /must not contain "="/],
  ["semaphore:default/a/b/c", /must not contain more than one "\/"/],
  ["pool:*=*", /cannot contain "\*"/],
  ["pool:a=*=*", /no value begins with "\*="/],
])("%s is refused, because no unit can ask for it", (key, words) => {
  expect(() => checkKey(key)).toThrow(words);
  expect(isKey(key)).toBe(false);
});

test.each([
  "cluster",
  "runs",
  "queue:mail",
  "mutex:ns/books",
  "mutex:ns/a/b/c",
  "semaphore:ns/licenses",
  "semaphore:ns/my-config/workflow",
  "pool:gpu",
  "pool:tenant=*",
  "pool:tenant=a=b",
  "pool:tenant=*.example.com",
  "tag:env=*",
  // The key of a tag may be any text, and so may its value.
  "tag:*",
  "tag:*=x",
  "tag:env=*=*",
  "run:01m7/workers",
])("%s is a key that a unit can ask for", (key) => {
  expect(() => checkKey(key)).not.toThrow();
});
