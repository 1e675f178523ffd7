/** The types of a workflow's input and result, which no field of it has. */
declare const carries: unique symbol;

export interface Carrying<Input, Output> {
  readonly [carries]?: { readonly input: Input; readonly output: Output };
}
