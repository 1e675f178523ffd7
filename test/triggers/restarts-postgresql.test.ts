import { openPostgres } from "../../src/store/postgres/index.ts";
import { describeWithPostgres, freshPostgres } from "../support/databases.ts";
import { restartCases } from "./restarts.ts";

describeWithPostgres("a server", () => {
  restartCases(async ({ now }) => {
    const url = await freshPostgres();
    const first = openPostgres({ url });
    await first.migrate();
    await first.close();
    return async () => openPostgres({ url, now });
  });
});
