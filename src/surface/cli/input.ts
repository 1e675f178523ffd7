/** Reads an input from the command line: JSON itself, `@file` for a file, or `-` for stdin. */
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { UsageError } from "./usage-error.ts";

export const INPUT = "its input as JSON; @file reads a file, - reads stdin";

export async function readInput(given: string): Promise<unknown> {
  const source = given === "-" ? "stdin" : given.startsWith("@") ? given.slice(1) : "the input";
  const json = await textOf(given);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(
      `${source} is not JSON: ${(error as Error).message}. Write it like '{"orderId":"A-1"}'`,
    );
  }
}

async function textOf(given: string): Promise<string> {
  if (given === "-") return text(process.stdin);
  if (!given.startsWith("@")) return given;
  try {
    return readFileSync(given.slice(1), "utf8");
  } catch (error) {
    throw new UsageError(`the input cannot be read: ${(error as Error).message}`);
  }
}
