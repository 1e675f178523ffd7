import { killWorkers } from "./killed.ts";

killWorkers("sqlite", 2, Number(process.env.SLUICE_KILLS ?? 20));
