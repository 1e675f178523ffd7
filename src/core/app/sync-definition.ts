/** The sync section of an app: how its engine shares locks with others. */

export interface SyncDefinition {
  /** A PostgreSQL or MySQL database that every engine can reach: `postgres://…` or `mysql://…`. */
  readonly url: string;
  /** The name of this engine among those that share locks. Two live engines cannot have one name. */
  readonly controllerName: string;
  /** How often this engine shows that it is alive. The default is 60. */
  readonly heartbeatSeconds?: number;
  /** An engine that was not heard for so long is inactive. The default is 300. All engines need the same value. */
  readonly inactiveControllerSeconds?: number;
  /** How often the shared lines are looked at. The default is 5. */
  readonly pollSeconds?: number;
  readonly limitTableName?: string;
  readonly controllerTableName?: string;
  readonly stateTableName?: string;
  readonly lockTableName?: string;
}
