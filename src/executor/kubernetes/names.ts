/**
 * Names that Kubernetes accepts. A valid name is kept as it is. Any other keeps its valid part and gets a
 * hash of the whole, so that two different names never become the same.
 */
import { createHash } from "node:crypto";

const LABEL_VALUE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** How much of a name is kept next to its hash. */
const LABEL_ROOM = 63 - 13;
const NAME_ROOM = 24;

export function labelValue(text: string): string {
  if (LABEL_VALUE.test(text)) return text;
  const kept = text.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, LABEL_ROOM);
  return join(trimmed(kept), hash(text, 12));
}

/** Always the same for one attempt, so that a second creation after a lost answer finds the first pod. */
export function podName(owner: string, unit: string, fence: number, about: string): string {
  const kept = about.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const readable = trimmed(trimmed(kept).slice(0, NAME_ROOM));
  return join("sluice", readable, hash(JSON.stringify([owner, unit, fence]), 20));
}

const trimmed = (text: string): string => text.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");

const join = (...parts: string[]): string => parts.filter((part) => part !== "").join("-");

const hash = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);
