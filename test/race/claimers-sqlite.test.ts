import { raceClaimers } from "./claimers.ts";

raceClaimers("SQLite");
