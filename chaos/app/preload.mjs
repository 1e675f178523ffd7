// Loaded first in every worker. It simulates the worker's host, and ends the worker together with its
// supervisor.

// A host with the wrong time: the wall clock of its processes is off.
const offset = Number(process.env.CHAOS_SKEW_MS ?? 0);
if (offset !== 0) {
  const Right = Date;
  globalThis.Date = class extends Right {
    constructor(...args) {
      super(...(args.length === 0 ? [Right.now() + offset] : args));
    }

    static now() {
      return Right.now() + offset;
    }
  };
}

// Only for the worker itself. Ending its children with it is up to the product.
const supervisor = Number(process.env.CHAOS_SUPERVISOR);
if (process.ppid === supervisor)
  setInterval(() => {
    if (process.ppid !== supervisor) process.exit(1);
  }, 1_000).unref();
