import type { Case } from "../case.ts";
import { crowdCases } from "./crowd-cases.ts";
import { drainCases } from "./drain-cases.ts";
import { flatCases } from "./flat-cases.ts";
import { handoverCases } from "./handover-cases.ts";
import { itemCases } from "./items.ts";
import { latencyCases } from "./latency-cases.ts";
import { mutexCases } from "./mutex-cases.ts";
import { silenceCases } from "./silence-cases.ts";
import { singleCases } from "./single-cases.ts";
import { sustainedCases } from "./sustained-cases.ts";
import { tenantCases } from "./tenant-cases.ts";
import { treeCases } from "./tree-cases.ts";

export const ourCases: readonly Case[] = [
  ...drainCases,
  ...crowdCases,
  ...handoverCases,
  ...mutexCases,
  ...latencyCases,
  ...singleCases,
  ...flatCases,
  ...tenantCases,
  ...treeCases,
  ...silenceCases,
  ...itemCases,
  ...sustainedCases,
];
