/**
 * Lets everybody else have a turn: timers, signals, answers from the network. A store in this process answers at once, so
 * whatever repeats itself must come by here between two rounds, or nothing else would ever happen.
 */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
