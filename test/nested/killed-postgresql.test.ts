import { killWorkers } from "./killed.ts";

killWorkers("postgres", Number(process.env.SLUICE_KILLS ?? 6));
