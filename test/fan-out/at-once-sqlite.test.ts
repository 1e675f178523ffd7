import { endAtOnce } from "./at-once.ts";

endAtOnce("SQLite");
