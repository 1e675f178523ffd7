/** How the steps and items of runs are named in their inputs, by whoever submits them. */
export const TICK = "tick/";
export const SIGHT = "sight/";

export const markOf = (key: string, step: string, item?: number): string =>
  `${key}/${step}${item === undefined ? "" : `/${item}`}`;
