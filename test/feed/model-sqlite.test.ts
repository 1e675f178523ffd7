import { judgeTheFeed } from "./model.ts";

judgeTheFeed("SQLite");
