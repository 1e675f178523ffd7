// A store written outside the package, tested by the parts of the suite that its capabilities name.

import { describeStore } from "sluice/testing/store-suite";
import { openToy, TOY } from "./toy-store.ts";

describeStore("a toy store", async ({ now }) => openToy(now), { capabilities: TOY });
