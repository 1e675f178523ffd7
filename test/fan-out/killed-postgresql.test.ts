import { killWorkers } from "./killed.ts";

killWorkers("postgres", 4, 50);
