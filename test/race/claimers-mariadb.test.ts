import { raceClaimers } from "./claimers.ts";

raceClaimers("MariaDB");
