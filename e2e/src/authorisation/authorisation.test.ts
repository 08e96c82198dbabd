/** Every endpoint, sent by everybody who has no right to it, and by those who have: the exact answer, and nothing left behind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "../databases.ts";
import { activities, queries } from "../generated/endpoints.ts";
import { ownFault } from "../keystead_server.ts";
import { assertOnlyKept } from "../matrix/look.ts";
import { keptAs } from "../matrix/run_activity.ts";
import type { Place } from "../matrix/stage.ts";
import { type Answer, assertAccepted, assertRefused } from "../wire.ts";
import { authorisationCases, type Case, expectedOf } from "./cases.ts";
import { byKey, byPasskey, bySession } from "./credentials.ts";
import { type Deployment, startDeployment } from "./deployment.ts";
import type { Endpoint } from "./endpoints.ts";

/** Nine, several of them with more than one kind of credential. */
const cases = 21;

for (const dialect of dialects) {
  test(`authorisation on ${dialect}`, async (t) => {
    const deployment = await startDeployment(t, dialect);
    if (deployment === undefined) return;
    const { stage, fixtures, credentials, endpoints, post } = deployment;
    const { parent, sub } = fixtures;

    await t.test("the credentials that are good are good alone", async () => {
      for (const { place } of [parent, sub]) {
        const { key, passkey, sessionKey, readOnly } = credentials[place === stage.sub ? "sub" : "parent"].good;
        const body = { organizationId: place.organizationId };
        for (const stamping of [byKey(key), byKey(sessionKey), byPasskey(passkey), bySession(readOnly)]) {
          assertAccepted(await post(queries.whoami.url, body, stamping(body)));
        }
      }
    });

    const all = authorisationCases(stage, credentials);
    const counts = { requests: 0, accepted: 0, refused: 0 };
    for (const each of all) {
      await t.test(`${each.name}: every endpoint`, async () => {
        const kept: (ReturnType<typeof keptAs> & { organizationId: string })[] = [];
        const keptIn = (place: Place) => () =>
          kept
            .filter(({ organizationId }) => organizationId === place.organizationId)
            .map(({ organizationId: _, ...activity }) => activity);
        const attempt = async () => {
          for (const endpoint of endpoints) {
            const { verdict, answer } = await tryOne(deployment, each, endpoint);
            counts.requests += 1;
            counts[verdict] += 1;
            const status = each.keeps?.find(([path]) => path === endpoint.path)?.[1];
            const body = each.body(endpoint);
            const { organizationId } = body;
            if (status !== undefined) kept.push({ ...keptAs(body, status, answer), organizationId });
          }
        };
        const isAllowed = (endpoint: Endpoint) => expectedOf(each, endpoint) === "accepted";
        const isQuiet = endpoints.every((endpoint) => endpoint.kind === "query" || !isAllowed(endpoint));
        // A child that signs in with the parent's id changes itself.
        const attemptInSub = isQuiet ? () => assertOnlyKept(sub, attempt, keptIn(sub.place)) : attempt;
        await assertOnlyKept(parent, attemptInSub, keptIn(parent.place));
      });
    }

    await t.test("every endpoint of the registry was tried in every case", () => {
      const registered = Object.keys(activities).length + Object.keys(queries).length;
      assert.equal(endpoints.length, registered);
      assert.equal(all.length, cases);
      assert.equal(counts.requests, registered * cases);
      // Queries by the parent, by its passkey and by a read-only session; what takes the parent's id, by the child and its passkey.
      // And whose it is, by a recovery key.
      assert.equal(counts.accepted, 3 * Object.keys(queries).length + 2 * 4 + 1);
      t.diagnostic(
        `${dialect}: ${registered} endpoints × ${cases} cases: ${counts.refused} refused and ${counts.accepted} accepted`,
      );
    });
    await t.test("none of this was an error inside", () => {
      assert.doesNotMatch(deployment.output(), ownFault);
    });
  });
}

type Tried = { verdict: "accepted" | "refused"; answer: Answer };

async function tryOne({ post }: Deployment, each: Case, endpoint: Endpoint): Promise<Tried> {
  const body = each.body(endpoint);
  const expected = expectedOf(each, endpoint);
  const answer = await post(endpoint.url, body, each.stamping(endpoint)(body));
  const what = `${each.name}, ${endpoint.path}: ${answer.status} ${answer.text.slice(0, 500)}`;
  if (expected === "accepted") {
    assert.equal(answer.status, 200, what);
    return { verdict: "accepted", answer };
  }
  assert.doesNotThrow(() => assertRefused(answer, expected), `${what}\nexpected ${JSON.stringify(expected)}`);
  return { verdict: "refused", answer };
}
