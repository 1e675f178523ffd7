/** The workers of a store. A process that only holds locks is none. */
import type { Store } from "../store/store.ts";

/** A live worker. */
export interface WorkerView {
  /** Its session. Tasks name their worker by it. */
  readonly session: string;
  readonly name: string;
  readonly slots: number;
}

/** The workers whose lease has not run out. */
export const workersOf = async (store: Store): Promise<WorkerView[]> =>
  (await store.sessions()).map(({ id, name, slots }) => ({ session: id, name, slots }));
