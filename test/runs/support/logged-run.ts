// A run of chain-app, observed from outside: by the log of its steps and by the recorded outcomes.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Sluice } from "../../../src/index.ts";
import { until } from "../../e2e/support/until.ts";
import type { Width } from "./chain-app.ts";
import { expected } from "./chain-app.ts";

/** What was known about the run when every process that ran it was dead. */
export interface Kill {
  /** The number of lines logged so far. */
  readonly lines: number;
  /** Steps with a recorded outcome. */
  readonly recorded: readonly string[];
  /** Steps that the killed worker had begun, without a recorded outcome. */
  readonly hit: readonly string[];
}

export class LoggedRun {
  readonly id: string;
  readonly kills: Kill[] = [];
  readonly #sluice: Sluice;
  readonly #log: string;
  readonly #expected: Record<string, number>;

  private constructor(sluice: Sluice, id: string, log: string, width: Width) {
    this.#sluice = sluice;
    this.id = id;
    this.#log = log;
    this.#expected = expected(width);
  }

  static async submit(sluice: Sluice, folder: string, width: Width): Promise<LoggedRun> {
    const log = join(folder, crypto.randomUUID());
    writeFileSync(log, "");
    const { id } = await sluice.submit(`chain${width}`, { log });
    return new LoggedRun(sluice, id, log, width);
  }

  get lines(): string[] {
    return readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
  }

  async isOver(): Promise<boolean> {
    return (await this.#run()).finishedAt !== null;
  }

  /** True if another loss would quarantine some step. Quarantine after three losses is another promise. */
  async isAtRisk(): Promise<boolean> {
    const { steps } = await this.#run();
    const isOpen = new Set(["waiting", "later", "running"]);
    return steps.some(
      ({ state, attempt }) => isOpen.has(state) && attempt - (state === "running" ? 1 : 0) >= 2,
    );
  }

  /**
   * Call this when none of the run's code is running. `since` is the number of lines before the killed worker
   * started.
   */
  async killed(since: number): Promise<void> {
    const { lines } = this;
    const { steps } = await this.#run();
    const recorded = steps.filter(({ state }) => state === "succeeded").map(({ name }) => name);
    const begun = steps.filter(({ name }) => lines.includes(`begin ${name}`, since)).map(({ name }) => name);
    const hit = begun.filter((name) => !recorded.includes(name));
    this.kills.push({ lines: lines.length, recorded, hit });
  }

  /** Checks that the run ended correctly and that no step recorded before a kill ran again. */
  async isWhole(): Promise<void> {
    await until(() => this.isOver(), "the run ends", 60_000);
    const run = await this.#run();
    const failures = run.steps.filter(({ error }) => error).map(({ name, error }) => [name, error]);
    expect(failures).toEqual([]);
    expect(run).toMatchObject({ state: "succeeded", result: this.#expected.c });
    const results = Object.fromEntries(run.steps.map(({ name, result }) => [name, result]));
    expect(results).toEqual(this.#expected);
    const { lines } = this;
    for (const kill of this.kills)
      expect(kill.recorded.filter((name) => lines.includes(`begin ${name}`, kill.lines))).toEqual([]);
    const names = Object.keys(this.#expected);
    expect(names.filter((name) => !lines.includes(`end ${name}`))).toEqual([]);
  }

  async #run() {
    const run = await this.#sluice.runs.get(this.id);
    if (!run) throw new Error(`run ${this.id} is gone`);
    return run;
  }
}
