// Loaded before everything else in a process whose host has the wrong time: all it knows of the wall clock is off.
const offset = Number(process.env.CHAOS_SKEW_MS ?? 0);
const Right = Date;

globalThis.Date = class extends Right {
  constructor(...args) {
    super(...(args.length === 0 ? [Right.now() + offset] : args));
  }

  static now() {
    return Right.now() + offset;
  }
};
