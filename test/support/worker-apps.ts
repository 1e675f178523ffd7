// The apps that worker processes and tests share, by name: an order can be sent to another process, an app
// cannot.

import type { App } from "../../src/index.ts";
import { TASK_APPS } from "../e2e/support/apps.ts";
import { RUN_APPS } from "../runs/support/apps.ts";
import type { Visitor } from "./witness.ts";

const APPS = { ...TASK_APPS, ...RUN_APPS } as const;

export type AppName = keyof typeof APPS;

/** Its tasks report to the visitor. A test that only enqueues or submits has none. */
export const appNamed = (name: AppName, visitor?: Visitor): App => APPS[name](visitor);
