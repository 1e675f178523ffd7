import { raceClaimers } from "./claimers.ts";

raceClaimers("PostgreSQL");
