import { watchWindow } from "./window.ts";

watchWindow("postgres", { processes: 4, many: 10_000 });
