/** The verbs of operators for one unit. Each verb is recorded in the unit's history, with the name of the operator. */
import type { TaskState } from "./units.ts";

export interface SteeringPort {
  cancel(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** Puts a finished task back in line. Undefined if there is no finished task with this id. */
  retry(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** Moves a unit that is still in line to another place. Undefined if no unit with this id waits. */
  reprioritize(id: string, priority: number, by: string): Promise<{ readonly from: number } | undefined>;
}
