import { openMysql } from "../../src/store/mysql/index.ts";
import { describeWithMariadb, migratedMariadb } from "../support/databases.ts";
import { manyLanes } from "./lanes.ts";

describeWithMariadb("very many lanes on MariaDB", () => {
  manyLanes(
    async () => {
      const store = await openMysql({ url: await migratedMariadb() });
      await store.migrate();
      return store;
    },
    { runs: 2, lanes: 70, parts: [0.3, 1] },
  );
});
