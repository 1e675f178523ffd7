import { watchWindow } from "./window.ts";

watchWindow("mariadb", { processes: 2, many: 2_000 });
