/** Steps that wait, on the workbench. */
import type { NewSignal, NewWait, RunMove, Signalled } from "../../store/store.ts";
import type { BenchWith } from "./bench.ts";
import { look, move, newRun } from "./run-bench.ts";

type WaitBench = BenchWith<"runs" | "waits" | "inspection">;

/** A wait for the event "paid" with these fields. */
export const forPaid = (match: Readonly<Record<string, string | number>>): NewWait => ({
  event: { name: "paid", match: Object.entries(match).sort(([a], [b]) => (a < b ? -1 : 1)) },
  until: null,
  late: null,
  told: JSON.stringify({ for: "event", event: "paid", match }),
});

/** A sleep, or a wait that takes no longer than this. */
export const lasting = (ms: number, wait: Partial<NewWait> = {}): NewWait => ({
  event: null,
  until: { afterMs: ms },
  late: { state: "succeeded", body: '"late"' },
  told: JSON.stringify({ for: "sleep", ms }),
  ...wait,
});

export const beginning = (name: string, wait: NewWait): RunMove["steps"][number] => ({
  name,
  state: "open",
  unit: null,
  body: null,
  wait,
});

/** A direct run that has started and waits for these. */
export async function waiting(
  bench: WaitBench,
  run: string,
  waits: Readonly<Record<string, NewWait>>,
): Promise<void> {
  await bench.store.submit([newRun(run, { direct: true })]);
  await move(bench, run, { start: { gates: [], timeoutMs: null }, steps: stepsOf(waits) });
}

export const stepsOf = (waits: Readonly<Record<string, NewWait>>): RunMove["steps"] =>
  Object.entries(waits).map(([name, wait]) => beginning(name, wait));

export const paid = (id: string, payload: unknown, more: Partial<NewSignal> = {}): NewSignal => ({
  id,
  event: "paid",
  payload: JSON.stringify(payload),
  keepMs: 60_000,
  key: null,
  ...more,
});

export const send = (bench: WaitBench, ...given: Parameters<typeof paid>): Promise<Signalled> =>
  bench.store.signal(paid(...given));

/** The steps of the run that have an answer which the run has not seen yet. Reads the news. */
export async function answersOf(bench: WaitBench, run: string): Promise<string[]> {
  const seen = (await look(bench)).find(({ id }) => id === run);
  return (seen?.steps ?? []).flatMap(({ name, answer }) => (answer === null ? [] : [`${name} ${answer}`]));
}

/** Ends the steps that have an answer, and returns their bodies. */
export async function endAnswered(bench: WaitBench, run: string): Promise<Record<string, string | null>> {
  await bench.store.advance((runs) => ({
    moves: runs.map(({ id, epoch, steps }) => ({
      run: id,
      epoch,
      ...QUIET,
      steps: steps.flatMap(({ name, answer }) =>
        answer === null ? [] : [{ name, state: answer, unit: null, body: null, answered: true }],
      ),
    })),
  }));
  const steps = (await bench.store.run(run))?.steps ?? [];
  return Object.fromEntries(steps.map(({ name, state, body }) => [`${name} ${state}`, body]));
}

const QUIET: Omit<RunMove, "run" | "epoch" | "steps"> = {
  start: null,
  gates: [],
  enqueue: [],
  timers: [],
  endItems: [],
  endLine: null,
  claim: null,
  again: false,
  finish: null,
};

/** No waits, answers or timers contradict each other. */
export async function contradictions(bench: WaitBench): Promise<string[]> {
  const { leftWaits, endlessWaits, unheardAnswers } = (await bench.store.inspect()).broken;
  return [leftWaits, endlessWaits, unheardAnswers].flatMap(({ ids }) => ids);
}
