/** Explains errors whose cause is the server's configuration. */
import { SluiceError } from "../../core/error.ts";
import type { ErrorCode } from "../../core/error-code.ts";
import { codeOf } from "../driver-error.ts";

const FORGOTTEN =
  "The server does not know a statement that was prepared on this connection, so a pooler in transaction mode is in between. Connect to the server directly, or use openPostgres({ url, pooler: true }).";
/** The setting of a role beats that of a database, so both are named. */
const READ_ONLY =
  "The database accepts no writes: it is a standby, or default_transaction_read_only is on for the role, the database or the server. Use the primary, or turn it off where it is set: ALTER ROLE … SET default_transaction_read_only = off, or ALTER DATABASE … SET default_transaction_read_only = off. To see where it is set: SELECT source FROM pg_settings WHERE name = 'default_transaction_read_only'.";
const NO_SCHEMA =
  "There is no schema for the tables: search_path names none that exists. Create one, or: ALTER ROLE … SET search_path = public.";

const REFUSALS: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  // A pooler that looked like a server is noticed when it has lost a statement, or has one that another
  // client left.
  "26000": ["POOLER_IN_BETWEEN", FORGOTTEN],
  "42P05": ["POOLER_IN_BETWEEN", FORGOTTEN],
  "25006": ["STORE_READ_ONLY", READ_ONLY],
  "3F000": ["STORE_REFUSED", NO_SCHEMA],
};

export function refusal(error: unknown): unknown {
  const known = REFUSALS[codeOf(error)];
  return known ? new SluiceError(known[0], known[1], { cause: error }) : error;
}
