/** A job that somebody watches: when its code begins, and what it logs. */
import type { Job } from "../../executor/executor.ts";

interface Watch {
  begins(): void;
  log(message: string, data: unknown): void;
}

/** A job may be of any class, and a spread would lose what its class has. So its parts are named. */
export function watchedJob(job: Job, watch: Watch): Job {
  const { id, name, input, attempt, fence, timeoutMs, beginBy, step, cpu, pod, call } = job;
  return {
    ...{ id, name, input, attempt, fence, timeoutMs, beginBy, step, cpu, pod },
    ...(call ? { call: (asked) => call.call(job, asked) } : {}),
    get signal() {
      return job.signal;
    },
    begins: () => {
      watch.begins();
      job.begins?.();
    },
    progress: (value) => job.progress(value),
    log: (message, data) => {
      watch.log(message, data);
      job.log(message, data);
    },
  };
}
