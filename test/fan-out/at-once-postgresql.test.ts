import { endAtOnce } from "./at-once.ts";

endAtOnce("PostgreSQL");
