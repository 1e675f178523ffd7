import { endAtOnce } from "./at-once.ts";

endAtOnce("MariaDB");
