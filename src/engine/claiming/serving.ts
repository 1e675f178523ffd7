/** Finds the sessions that serve a lane. Each session names the queues and the tasks that it runs. */
import { LOCKS } from "../../core/lock/request.ts";
import type { SessionRow } from "../../store/store.ts";
import { isRunQueue, NOTHING_SERVED, RUNS } from "../../store/store.ts";

/** The most lanes of other workers in sight, so that they never crowd out our own. */
export const MOST_FOREIGN = 16;

interface Serves {
  readonly queues: ReadonlySet<string>;
  readonly tasks: ReadonlySet<string>;
  /** The beginnings of tasks: those of a process that holds locks. */
  readonly begins: readonly string[];
}

export function servesText(queues: readonly string[], tasks: readonly string[]): string {
  return JSON.stringify({ queues, tasks });
}

/** A session that names this task runs every task of its queues. */
const ANY = "*";

const parsed = new Map<string, Serves>();

function servesOf(text: string): Serves {
  const known = parsed.get(text);
  if (known) return known;
  const serves = read(text);
  if (parsed.size > 1_000) parsed.clear();
  parsed.set(text, serves);
  return serves;
}

const isBeginning = (task: string): boolean => task.startsWith(`${LOCKS}/`) && task.endsWith(`/${ANY}`);

/** A session with a damaged row serves nothing. The other sessions are not affected. */
function read(text: string): Serves {
  try {
    const { queues, tasks } = JSON.parse(text) as { queues: string[]; tasks: string[] };
    const begins = tasks.filter(isBeginning).map((task) => task.slice(0, -ANY.length));
    return { queues: new Set(queues), tasks: new Set(tasks), begins };
  } catch {
    return { queues: new Set(), tasks: new Set(), begins: [] };
  }
}

export function doesServe(serves: string, lane: { readonly queue: string; readonly task: string }): boolean {
  const { queues, tasks, begins } = servesOf(serves);
  if (!queues.has(lane.queue)) return false;
  return tasks.has(lane.task) || tasks.has(ANY) || begins.some((begin) => lane.task.startsWith(begin));
}

/** All queues that these sessions serve. */
export function queuesServed(sessions: readonly SessionRow[]): string[] {
  return [...new Set(sessions.flatMap(({ serves }) => [...servesOf(serves).queues]))];
}

/** The positions of the sessions that serve a lane. */
export function serving(
  sessions: readonly SessionRow[],
  lane: { readonly queue: string; readonly task: string },
): number[] {
  const found: number[] = [];
  sessions.forEach((session, index) => {
    if (doesServe(session.serves, lane)) found.push(index);
  });
  return found;
}

/** The same, for explanations. The session `@runs` never ends, but only a live worker process can admit runs. */
export function attending(
  sessions: readonly SessionRow[],
  lane: { readonly queue: string; readonly task: string },
): number[] {
  return isRunQueue(lane.queue) && !isAttended(sessions) ? [] : serving(sessions, lane);
}

/** True if a live worker admits and advances runs. A worker that is stopping does not. */
export const isAttended = (sessions: readonly Pick<SessionRow, "id" | "serves">[]): boolean =>
  sessions.some((session) => session.id !== RUNS && isAtWork(session));

/** A process that only holds locks is no worker. */
export const isAtWork = ({ serves }: Pick<SessionRow, "serves">): boolean =>
  serves !== NOTHING_SERVED && !servesOf(serves).queues.has(LOCKS);
