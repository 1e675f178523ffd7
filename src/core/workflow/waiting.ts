/** Steps that wait: for a time, an event or a person. */
import type { Duration } from "../time.ts";
import type { EventDefinition, Scalar } from "./event.ts";
import type { StepEnding, StepEndings, StepHandle } from "./handle.ts";
import type { StandsFor } from "./reference.ts";
import type { StepCondition } from "./when.ts";
import type { AsJson, Unwired, Wired } from "./wired.ts";

/** The options of every step that waits. */
export interface WaitingOptions {
  readonly after?: readonly (StepEndings | StepEnding)[];
  /** The step is skipped if this does not hold. */
  readonly when?: StepCondition;
  /** Its failure does not fail the run. */
  readonly mayFail?: boolean;
}

interface TimedOptions<Otherwise> extends WaitingOptions {
  /** How long it waits. The default is for as long as it takes. */
  readonly timeout?: Duration;
  /** The output if the timeout passes. Without it, the step fails with the code WAIT_TIMEOUT. */
  readonly otherwise?: Otherwise;
}

/** Without a known payload, any field may be compared. */
type Match<Payload> = unknown extends Payload
  ? Readonly<Record<string, Wired<Scalar>>>
  : { readonly [Field in keyof Payload]?: Wired<Extract<Payload[Field], Scalar>> };

export interface WaitForOptions<Payload = unknown, Otherwise = unknown> extends TimedOptions<Otherwise> {
  /** Fields of the payload, each with the value that it must have. */
  readonly match?: Match<Payload>;
}

export interface ApproveOptions<Otherwise = unknown> extends TimedOptions<Otherwise> {
  readonly question: Wired<string>;
  /** Who may answer. By default, everybody. */
  readonly by?: readonly string[];
}

/** The output of an approved step. */
export interface Approval {
  approved: true;
  by: string;
  note: string | null;
  /** In milliseconds since 1970. */
  at: number;
}

type Time = Date | string | number | StandsFor<string> | StandsFor<number> | StandsFor<string | number>;

export interface WaitingSteps {
  /** Succeeds after this time. */
  sleep(name: string, duration: Duration, options?: WaitingOptions): StepHandle<null>;

  /** Succeeds at that time: a Date, a text like `2026-11-19T08:00:00Z`, or milliseconds since 1970. */
  until(name: string, time: Time, options?: WaitingOptions): StepHandle<null>;

  /**
   * Succeeds with the payload of the first signal that matches. A signal counts if it was sent after the run
   * was submitted and is still kept.
   */
  waitFor<Payload = unknown, const Otherwise = never>(
    name: string,
    // biome-ignore lint/suspicious/noExplicitAny: only what the schema makes of a payload matters here.
    event: EventDefinition<any, Payload> | string,
    options?: WaitForOptions<NoInfer<Payload>, Otherwise>,
  ): StepHandle<AsJson<Payload> | Unwired<Otherwise>>;

  /** Succeeds if a person approves, and fails with the code REJECTED if a person rejects. */
  approve<const Otherwise = never>(
    name: string,
    options: ApproveOptions<Otherwise>,
  ): StepHandle<Approval | Unwired<Otherwise>>;
}

/** As written; the app check validates it. */
export type PlannedWait =
  | { readonly for: "sleep"; readonly duration: unknown }
  | { readonly for: "until" }
  | {
      readonly for: "event";
      readonly event: unknown;
      /** Whether the input has fields to match. */
      readonly match: unknown;
      readonly timeout: unknown;
    }
  | {
      readonly for: "approval";
      readonly question: unknown;
      readonly by: unknown;
      readonly timeout: unknown;
    };

/** A call of a verb, before its values become templates. */
export interface WaitCall {
  readonly wait: PlannedWait;
  readonly input: unknown;
  readonly otherwise: unknown;
  /** Options that are left, by name. */
  readonly rest: Readonly<Record<string, unknown>>;
}

type Add = (name: string, call: WaitCall) => StepHandle<unknown>;

/** The verbs of a workflow under construction. */
export function waitingSteps(add: Add): Record<keyof WaitingSteps, unknown> {
  return {
    sleep: (name: string, duration: unknown, options: object = {}) =>
      add(name, {
        wait: { for: "sleep", duration },
        input: null,
        otherwise: undefined,
        rest: { ...options },
      }),
    until: (name: string, time: unknown, options: object = {}) =>
      add(name, {
        wait: { for: "until" },
        input: time instanceof Date ? isoOf(time) : time,
        otherwise: undefined,
        rest: { ...options },
      }),
    waitFor: (name: string, event: unknown, options: Partial<WaitForOptions> = {}) => {
      const { match = {}, timeout, otherwise, ...rest } = options;
      const wait = { for: "event", event, match, timeout } as const;
      return add(name, { wait, input: match, otherwise, rest });
    },
    approve: (name: string, options: Partial<ApproveOptions> = {}) => {
      const { question, by, timeout, otherwise, ...rest } = options;
      const wait = { for: "approval", question, by, timeout } as const;
      return add(name, { wait, input: question ?? null, otherwise, rest });
    },
  };
}

/** An invalid date has no text. The app check reports it. */
const isoOf = (time: Date): string => (Number.isNaN(time.getTime()) ? "" : time.toISOString());
