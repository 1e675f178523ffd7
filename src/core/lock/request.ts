/**
 * Requests of plain code for locks. A request is a unit in a queue of its own. Its task name says which process
 * asks, because only that process can run the code, and who holds the lock, for people:
 * `@locks/PROCESS/HOLDER`.
 */

/** The queue of all requests. */
export const LOCKS = "@locks";

export const isOfLocks = (queue: string | null | undefined): boolean => queue === LOCKS;

/** The name of a process, and of its sessions. A process is one life of one client. */
export const processName = (process: string): string => `${LOCKS}/${process}`;

export const requestName = (process: string, holder: string): string => `${processName(process)}/${holder}`;

/** What the sessions of a process serve: every request of the process. */
export const requestsOf = (process: string): string => `${processName(process)}/*`;

/** True for the name of a session that only holds locks. It is no worker. */
export const isProcessOfLocks = (name: string): boolean => name.startsWith(`${LOCKS}/`);

/** The process that asks, from the task name of its request. */
export function processOf(task: string): string {
  const end = task.indexOf("/", LOCKS.length + 1);
  return end < 0 ? task : task.slice(0, end);
}

/** A unit's name as people see it: a request is known by its holder. */
export function shownName(task: string): string {
  return isProcessOfLocks(task) ? task.slice(processOf(task).length + 1) : task;
}
