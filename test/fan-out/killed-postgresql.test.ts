import { killWorkers } from "./killed.ts";

killWorkers("postgres", 4, Number(process.env.SLUICE_KILLS ?? 20));
