import { expect, test } from "vitest";
import { asDataError } from "../data-error.ts";
import { joined, packed } from "./packets.ts";

const bytes = (packet: readonly string[]): number => Buffer.byteLength(joined(packet)) + 1;

test("statements that fit together travel together", () => {
  expect(packed(["BEGIN", "SELECT 1", "COMMIT"], 1_000)).toEqual([["BEGIN", "SELECT 1", "COMMIT"]]);
  expect(packed([], 1_000)).toEqual([]);
});

test("those that do not are sent one after the other, and no packet is larger than the server takes", () => {
  // The server counts bytes, and each of these characters has three.
  const texts = Array.from({ length: 40 }, (_, index) => "€".repeat(index * 5));
  const packets = packed(texts, 1_000);
  expect(packets.flat()).toEqual(texts);
  expect(packets.length).toBeGreaterThan(5);
  for (const packet of packets) expect(bytes(packet)).toBeLessThan(1_000);
});

test("one that is too large by itself is an error about data, and is not sent", () => {
  const failure = (() => {
    try {
      return packed(["BEGIN", "x".repeat(2 * 1024 * 1024)], 1024 * 1024);
    } catch (error) {
      return asDataError(error);
    }
  })();
  expect(failure).toMatchObject({
    code: "BAD_DATA",
    message: expect.stringContaining("2.0 MB does not fit into max_allowed_packet, which is 1.0 MB"),
  });
});
