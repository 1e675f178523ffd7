import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelValue, podName } from "./names.ts";

const VALID_LABEL = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.stringMatching(/^[a-z-]{0,80}$/),
);

describe("a label's value", () => {
  test("is the name itself where that is valid", () => {
    expect(labelValue("Resize_image-2.b")).toBe("Resize_image-2.b");
  });

  test("keeps what it can of any other, and a hash of the whole", () => {
    expect(labelValue("resize the image")).toMatch(/^resize-the-image-[0-9a-f]{12}$/);
    expect(labelValue("")).toMatch(/^[0-9a-f]{12}$/);
  });

  test("is always valid", () => {
    fc.assert(fc.property(text, (name) => VALID_LABEL.test(labelValue(name))));
  });

  test("differs where names differ", () => {
    fc.assert(fc.property(text, text, (one, two) => one === two || labelValue(one) !== labelValue(two)));
  });
});

describe("a pod's name", () => {
  test("is a valid name of a host, whatever it is about", () => {
    const valid = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;
    fc.assert(fc.property(text, fc.nat(), (about, fence) => valid.test(podName("me", "u", fence, about))));
  });

  test("is the same for the same attempt, and another for each other claim, unit and owner", () => {
    const name = podName("me", "u1", 7, "step");
    expect(podName("me", "u1", 7, "step")).toBe(name);
    const others = [
      podName("me", "u1", 8, "step"),
      podName("me", "u2", 7, "step"),
      podName("you", "u1", 7, "step"),
    ];
    expect(new Set([name, ...others]).size).toBe(4);
  });
});
