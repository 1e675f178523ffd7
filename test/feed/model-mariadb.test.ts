import { judgeTheFeed } from "./model.ts";

judgeTheFeed("MariaDB");
