/** For those who write a store of their own: every port with its types, and what stores have in common. */
export type { Said } from "../core/gate/declared.ts";
export type { Ask, Limit, Line } from "../core/gate/gate.ts";
export { UNLIMITED } from "../core/gate/gate.ts";
export { familyOf } from "../core/gate/key.ts";
export type { Kind } from "../core/gate/kind.ts";
export { bornAs, undeclared } from "../core/gate/kind.ts";
export type { Success } from "../core/schedule/automation.ts";
export type { Active } from "../core/schedule/overlap.ts";
export type { TriggerKind } from "../core/schedule/trigger.ts";
export type { AnyStore, Capabilities, PortName, Ports, StoreWith } from "./capabilities.ts";
export { ALL_PORTS, offers } from "./capabilities.ts";
export type { Inherited, Own } from "./family.ts";
export { bindsPerValue, inherit } from "./family.ts";
export type { LaneSpec } from "./lane.ts";
export { asksOf, laneOf } from "./lane.ts";
export * from "./store.ts";
export { heldPerGate } from "./usage.ts";
