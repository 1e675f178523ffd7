import { openPostgres } from "../../src/store/postgres/index.ts";
import { describeWithPostgres, migratedPostgres } from "../support/databases.ts";
import { manyLanes } from "./lanes.ts";

describeWithPostgres("very many lanes on PostgreSQL", () => {
  manyLanes(async () => openPostgres({ url: await migratedPostgres() }), {
    runs: 2,
    lanes: 70,
    parts: [0.3, 1],
  });
});
