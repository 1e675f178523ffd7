// Loaded before everything else in a worker: what its host does to it, and that it ends with whoever started it.

// A host that has the wrong time: all that its processes know of the wall clock is off.
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

// Only for the worker itself: that its children end with it is for the product to see to.
const supervisor = Number(process.env.CHAOS_SUPERVISOR);
if (process.ppid === supervisor)
  setInterval(() => {
    if (process.ppid !== supervisor) process.exit(1);
  }, 1_000).unref();
