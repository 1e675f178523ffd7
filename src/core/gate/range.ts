/** What a limit and a lease may be, wherever somebody writes one: in an app, a command, or code. */
import { formatDuration } from "../time.ts";
import { UNLIMITED } from "./gate.ts";

/** Shorter ones could not be renewed in time by a worker that is merely busy. */
const SHORTEST_LEASE_MS = 1_000;

/** Whether an operator may set it: an app's own caps begin at 1. */
export function isLimit(value: unknown, least: number = UNLIMITED): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

/** What is wrong with a lease, if anything: "must be 1s or more, but is 20ms". */
export function leaseProblem(leaseMs: number): string | undefined {
  if (leaseMs >= SHORTEST_LEASE_MS) return undefined;
  return `must be ${formatDuration(SHORTEST_LEASE_MS)} or more, but is ${formatDuration(leaseMs)}`;
}
