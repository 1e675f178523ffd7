import { judgeTheFeed } from "./model.ts";

judgeTheFeed("PostgreSQL");
