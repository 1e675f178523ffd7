import { watchWindow } from "./window.ts";

watchWindow("sqlite", { processes: 2, many: 10_000 });
