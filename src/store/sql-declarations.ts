/** What apps declare, over any SQL database. A declaration changes limits, so its transactions go through the door. */
import type { Database } from "./flow.ts";
import { apps, declare, replaced } from "./query/declare.ts";
import { repeated } from "./retry.ts";
import { SqlFeed } from "./sql-feed.ts";
import type { Declaration, DeclarationPort, Declared, Occasion, Store } from "./store.ts";

export class SqlDeclarations extends SqlFeed implements DeclarationPort {
  readonly #db: Database;

  /** `plain` is the same database without the door. */
  constructor(plain: Database, db: Database) {
    super(plain);
    this.#db = db;
  }

  /** Declaring is idempotent, so it is repeated after a lost answer. */
  declare(declaration: Declaration, occasion: Occasion = "deploy"): Promise<Declared> {
    return repeated(() => this.#db.transact(() => declare(declaration, occasion)));
  }

  replaced(): ReturnType<Store["replaced"]> {
    return this.#db.read(() => replaced());
  }

  apps(): ReturnType<Store["apps"]> {
    return this.#db.read(() => apps());
  }
}
