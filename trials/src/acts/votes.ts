/** Acts of people who must agree, three of three: submissions that wait, approvals that wait, that run it, and rejections. */
import assert from "node:assert/strict";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import {
  type ActivityPath,
  type Envelope,
  type Fixture,
  fingerprintOf,
  type Json,
} from "@keystead/e2e/matrix/fixture.ts";
import { type Look, look } from "@keystead/e2e/matrix/look.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import type { Person } from "@keystead/e2e/world.ts";
import { type Act, bodyOf, checkEffect, checkOnce, checkUnchanged, type Deed, isSealed } from "./act.ts";

type Target = keyof typeof activityTable;

/** What is agreed on, and who must agree. */
type Matter = { fixture: Fixture; path: Target; entry: ActivityEntry; body: Envelope; before: Look };

const three = ({ place: { root, deputy, member } }: Fixture): Person[] => [root, deputy, member];
const idsOf = (people: readonly Person[]): string[] => people.map(({ userId }) => userId);

/** Whatever the activity needs is made while one is enough; from then on it takes all three. */
async function open(fixture: Fixture, path: Target): Promise<Matter> {
  const entry: ActivityEntry = activityTable[path];
  const parameters = await entry.good(fixture);
  await fixture.done("update_root_quorum", { threshold: 3, userIds: idsOf(three(fixture)) });
  return { fixture, path, entry, body: bodyOf(path, fixture, parameters), before: await look(fixture) };
}

function submit({ fixture, path, body }: Matter, { p256: key }: Person): Promise<Json> {
  return fixture.send({ kind: "submit", path, body, key });
}

async function approve(fixture: Fixture, body: Envelope, voter: Person): Promise<void> {
  await fixture.submit("approve_activity", { fingerprint: fingerprintOf(body) }, voter);
}

/** One root user is enough again, or the next act's preparations would wait for ever. */
async function close(fixture: Fixture): Promise<void> {
  const [root, deputy, member] = three(fixture) as [Person, Person, Person];
  const body = bodyOf("update_root_quorum", fixture, { threshold: 1, userIds: idsOf([root, deputy]) });
  await fixture.send({ kind: "submit", path: "update_root_quorum", body, key: root.p256 });
  for (const voter of [deputy, member]) await approve(fixture, body, voter);
  const { configs } = await fixture.ask("get_organization_configs");
  assert.equal(configs.quorum.threshold, 1, "the quorum is as it was");
}

type Outcome = { status: "CONSENSUS_NEEDED" | "COMPLETED" | "REJECTED"; voters: readonly Person[] };

/** The last of the requests that settle a matter, whichever that is. */
function lastRequest(
  matter: Matter,
  request: Pick<Deed, "path" | "caller"> & { sent: Envelope },
  { status, voters }: Outcome,
): Deed {
  const { fixture, entry, body, before } = matter;
  return {
    path: request.path,
    caller: request.caller,
    body: JSON.stringify(request.sent),
    async check({ activity }) {
      assert.equal(activity.status, `ACTIVITY_STATUS_${status}`);
      assert.equal(activity.fingerprint, fingerprintOf(body));
      assert.deepEqual(
        activity.votes.map(({ user }: Json) => user.userId),
        idsOf(voters),
      );
      if (status === "COMPLETED") await checkEffect(entry, fixture, body, activity, before);
      else await checkUnchanged(fixture, before);
      await checkOnce(fixture, body);
    },
    tidy: () => close(fixture),
  };
}

/** Before the act a number of people have approved; the act is the next one's. */
function voteAct(
  name: string,
  path: Target,
  before: number,
  request: (matter: Matter, voter: Person) => { path: ActivityPath; sent: Envelope },
  status: Outcome["status"],
): Act {
  return {
    name: `${name} (${path})`,
    at: "parent",
    isSealed: status === "COMPLETED" && isSealed(path),
    async begin(fixture) {
      const matter = await open(fixture, path);
      const people = three(fixture);
      for (const [index, voter] of people.slice(0, before).entries()) {
        if (index === 0) await submit(matter, voter);
        else await approve(fixture, matter.body, voter);
      }
      const caller = people[before] as Person;
      return lastRequest(
        matter,
        { caller, ...request(matter, caller) },
        { status, voters: people.slice(0, before + 1) },
      );
    },
  };
}

const itself = ({ path, body }: Matter) => ({ path, sent: body });

function voteBy(path: "approve_activity" | "reject_activity") {
  return ({ fixture, body }: Matter) => ({ path, sent: bodyOf(path, fixture, { fingerprint: fingerprintOf(body) }) });
}

/** The approval that lets an activity run. */
export const approvalOf = (path: Target): Act => voteAct("approval", path, 2, voteBy("approve_activity"), "COMPLETED");

/** The third's stamp over the very bytes that wait. */
export const stampOver = (path: Target): Act => voteAct("same bytes", path, 2, itself, "COMPLETED");

export const submissionOf = (path: Target): Act => voteAct("submission", path, 0, itself, "CONSENSUS_NEEDED");

export const earlyApprovalOf = (path: Target): Act =>
  voteAct("early approval", path, 1, voteBy("approve_activity"), "CONSENSUS_NEEDED");

export const rejectionOf = (path: Target): Act => voteAct("rejection", path, 1, voteBy("reject_activity"), "REJECTED");
