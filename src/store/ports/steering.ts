/** What a person does to one unit. Each verb is part of the unit's history, with the name of who did it. */
import type { TaskState } from "./units.ts";

export interface SteeringPort {
  cancel(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** Puts a finished task back in line. Undefined when there is none that is finished. */
  retry(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** Another place in line, for what is still in line. Undefined when nothing of this name waits. */
  reprioritize(id: string, priority: number, by: string): Promise<{ readonly from: number } | undefined>;
}
