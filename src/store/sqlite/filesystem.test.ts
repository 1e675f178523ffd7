import { describe, expect, test } from "vitest";
import { networkOf } from "./filesystem.ts";

describe.skipIf(process.platform !== "linux")("the file system under a file", () => {
  const on = (type: number) => networkOf("/x", () => ({ type }));

  test("is named where it is a network's", () => {
    expect(on(0x6969)).toBe("nfs");
    expect(on(0xff534d42)).toBe("cifs");
    // As returned on a system that uses signed 32-bit numbers.
    expect(on(0xff534d42 | 0)).toBe("cifs");
  });

  test("is not spoken of where it is local, or cannot be told", () => {
    expect(on(0xef53)).toBeUndefined();
    expect(
      networkOf("/x", () => {
        throw new Error("no such file");
      }),
    ).toBeUndefined();
    expect(networkOf(process.cwd())).toBeUndefined();
  });
});
