/** The published clients drive a real server, one for each database; each theme acts in organizations of its own. */
import { test } from "node:test";
import { dialects } from "../databases.ts";
import { startServer } from "../world.ts";
import { activities } from "./activities.ts";
import { attestation } from "./attestation.ts";
import { rootOf } from "./clients.ts";
import { consensus } from "./consensus.ts";
import { olderTypes } from "./older_types.ts";
import { oneTimeCodes } from "./one_time_codes.ts";
import { organizations } from "./organizations.ts";
import { policies } from "./policies.ts";
import { polling } from "./polling.ts";
import { refusals } from "./refusals.ts";
import { repeats } from "./repeats.ts";
import { stamps } from "./stamps.ts";
import { users } from "./users.ts";

const themes = {
  activities,
  organizations,
  users,
  stamps,
  consensus,
  polling,
  repeats,
  refusals,
  olderTypes,
  policies,
  oneTimeCodes,
  attestation,
};

for (const dialect of dialects) {
  test(`the published clients on ${dialect}`, async (t) => {
    const server = await startServer(t, dialect);
    if (server === undefined) return;
    for (const [name, theme] of Object.entries(themes)) {
      await t.test(name, (t) => theme(t, server, rootOf(server)));
    }
  });
}
