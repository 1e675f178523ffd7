import { killWorkers } from "./killed.ts";

killWorkers("sqlite", Number(process.env.SLUICE_KILLS ?? 6));
