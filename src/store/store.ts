/**
 * The contract of a whole store: all ports together, in domain verbs. A store remembers and never decides:
 * the function passed to `pass` says what may start. Each port has a file in `ports/` with its verbs and
 * types.
 */
import type { AnyStore } from "./capabilities.ts";
import type { AsidePort } from "./ports/asides.ts";
import type { DeclarationPort } from "./ports/declarations.ts";
import type { FeedPort } from "./ports/feed.ts";
import type { GatePort } from "./ports/gates.ts";
import type { HoldingPort } from "./ports/holdings.ts";
import type { InspectionPort } from "./ports/inspection.ts";
import type { LinePort } from "./ports/lines.ts";
import type { MaintenancePort } from "./ports/maintenance.ts";
import type { PassPort } from "./ports/passes.ts";
import type { RequestPort } from "./ports/requests.ts";
import type { RunPort } from "./ports/runs.ts";
import type { SessionPort } from "./ports/sessions.ts";
import type { SharingPort } from "./ports/sharing.ts";
import type { SteeringPort } from "./ports/steering.ts";
import type { SwapPort } from "./ports/swaps.ts";
import type { TriggerPort } from "./ports/triggers.ts";
import type { UnitPort } from "./ports/units.ts";
import type { WaitPort } from "./ports/waiting.ts";
import type { WakeUpPort } from "./ports/wake-ups.ts";

export * from "./ports/advancing.ts";
export type * from "./ports/asides.ts";
export type * from "./ports/declarations.ts";
export * from "./ports/feed.ts";
export * from "./ports/gates.ts";
export type * from "./ports/holdings.ts";
export type * from "./ports/inspection.ts";
export type * from "./ports/lanes.ts";
export type * from "./ports/lines.ts";
export type * from "./ports/maintenance.ts";
export * from "./ports/passes.ts";
export * from "./ports/reports.ts";
export type * from "./ports/requests.ts";
export * from "./ports/runs.ts";
export * from "./ports/sessions.ts";
export type * from "./ports/sharing.ts";
export type * from "./ports/steering.ts";
export * from "./ports/step-key.ts";
export * from "./ports/steps.ts";
export type * from "./ports/swaps.ts";
export type * from "./ports/triggers.ts";
export type * from "./ports/units.ts";
export * from "./ports/waiting.ts";
export type * from "./ports/wake-ups.ts";

export interface Store
  extends AnyStore,
    UnitPort,
    PassPort,
    SwapPort,
    SessionPort,
    GatePort,
    HoldingPort,
    DeclarationPort,
    LinePort,
    SteeringPort,
    AsidePort,
    RequestPort,
    RunPort,
    WaitPort,
    SharingPort,
    TriggerPort,
    InspectionPort,
    FeedPort,
    WakeUpPort,
    MaintenancePort {}
