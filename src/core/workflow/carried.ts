/** The types of a workflow's input and result, which no field of it has. */
declare const carries: unique symbol;

export interface Carrying<Input, Output> {
  readonly [carries]?: { readonly input: Input; readonly output: Output };
}

/**
 * The type of what can be passed to it. A task fits only where everything that will be passed is something that it takes. One
 * without an input takes anything.
 */
declare const takes: unique symbol;

export interface Taking<Input> {
  readonly [takes]?: (input: Taken<Input>) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: of an input whose author left it open, nothing is refused.
type Taken<Input> = 0 extends 1 & Input ? any : Given<Input>;
// biome-ignore lint/suspicious/noConfusingVoidType: the input of a task that has none has this type.
type Given<Input> = [Input] extends [void] ? unknown : Input;
