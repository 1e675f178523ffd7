/**
 * The whole assignment of a pod, as JSON in one environment variable. Linux accepts no variable above 128 KB,
 * so a larger assignment is refused before its pod is created.
 */
import { SluiceError } from "../../core/error.ts";
import type { Job } from "../executor.ts";

export const STEP_VARIABLE = "SLUICE_STEP";
const MOST_BYTES = 100 * 1024;

export interface StepMessage {
  readonly id: string;
  readonly task: string;
  /** JSON text. */
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly timeoutMs: number | null;
  readonly run: string | null;
  readonly step: string | null;
}

export function writeStep({ id, name, input, attempt, fence, timeoutMs, step }: Job): string {
  const message: StepMessage = {
    id,
    task: name,
    input,
    attempt,
    fence,
    timeoutMs,
    run: step?.run ?? null,
    step: step?.name ?? null,
  };
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_BYTES) return text;
  throw new SluiceError(
    "INPUT_TOO_LARGE",
    `task "${name}": a pod gets its input in its environment, at most ${MOST_BYTES} bytes; this one needs ${bytes}. Store the data elsewhere and pass a reference to it.`,
    { details: { bytes, most: MOST_BYTES } },
  );
}

export function readStep(text: string | undefined): StepMessage {
  const said = text === undefined || text === "" ? undefined : parsed(text);
  if (said && typeof said.id === "string" && typeof said.task === "string" && typeof said.input === "string")
    return said as StepMessage;
  throw new SluiceError(
    "NO_STEP",
    `${STEP_VARIABLE} must hold the step to run, as the Kubernetes executor writes it; ${text ? "it holds something else" : "it is not set"}. Only a pod of the Kubernetes executor runs a single step; a worker runs an app.`,
    { remedies: [{ action: "startWorker" }] },
  );
}

function parsed(text: string): Partial<StepMessage> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
