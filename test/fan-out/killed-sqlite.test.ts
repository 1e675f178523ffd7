import { killWorkers } from "./killed.ts";

killWorkers("sqlite", 2, 50);
