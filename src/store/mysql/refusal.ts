/** Explains errors whose cause is the server's configuration. */
import { SluiceError } from "../../core/error.ts";
import { codeOf, messageOf } from "../driver-error.ts";

const READ_ONLY = new Set(["ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION", "ER_READ_ONLY_MODE"]);

export function refusal(error: unknown): unknown {
  const isReadOnly =
    READ_ONLY.has(codeOf(error)) ||
    // The server uses this code for any option that forbids something; the message names the option.
    (codeOf(error) === "ER_OPTION_PREVENTS_STATEMENT" && /read[-_]only/i.test(messageOf(error)));
  if (!isReadOnly) return error;
  return new SluiceError(
    "STORE_READ_ONLY",
    "The database takes no writes: it is a replica, or read_only or transaction_read_only is on. Use the primary, or: SET GLOBAL read_only = OFF.",
    { cause: error },
  );
}
