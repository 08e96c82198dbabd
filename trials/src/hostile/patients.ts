/** A deployment whose organizations have all been through the same story, for whoever wants to do something to some of them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { messageTo } from "@keystead/e2e/mailbox.ts";
import { type Answer, type Message, send } from "@keystead/e2e/wire.ts";
import { newBody, stampWith } from "../../../server/test/hostile_run.ts";
import {
  type Acted,
  type ActivityPath,
  type Actor,
  found,
  foundAndDelete,
  furnishHouse,
  type Teller,
} from "../../../server/test/hostile_story.ts";
import type { Patient } from "./damage.ts";
import { openRaw, type Snapshot, snapshotOf } from "./raw_database.ts";

export type Deployment = {
  dataFolder: string;
  /** For copies of the database and the signer's memory. */
  aside: string;
  root: Actor;
  /** The first organization, to which all others belong. */
  parentId: string;
  ruinId: string;
  /** Something is done to these. */
  patients: Patient[];
  /** What is taken for them from elsewhere is taken from here. */
  donor: Patient;
  /** Nothing is ever done to these. */
  witnesses: Patient[];
};

export type Stamped = { path: ActivityPath; body: Uint8Array; stamp: string };

export function submitTo(
  url: string,
  { path, body, stamp }: Stamped,
  headers: [string, string][] = [],
): Promise<Answer> {
  return sendAgain(url, {
    path: `/public/v1/submit/${path}`,
    headers: [["Content-Type", "application/json"], ["X-Stamp", stamp], ...headers],
    body,
  });
}

/** A connection that was idle may end while it is taken up again; the same bytes may be sent again, and are the same request. */
export async function sendAgain(url: string, message: Message): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(url, message);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "ECONNRESET" || attempt === 3) throw error;
    }
  }
}

export function httpTeller(url: string): Teller {
  async function repeat(actor: Actor, path: ActivityPath, body: Uint8Array): Promise<Acted> {
    const answer = await submitTo(url, { path, body, stamp: stampWith(actor, body) });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    const { status, result } = answer.json.activity;
    return { body, status, result: Object.values(result)[0] };
  }
  return {
    repeat,
    act: (actor, path, parameters, organizationId) => repeat(actor, path, newBody(path, parameters, organizationId)),
    async accountAt(actor, organizationId, walletId, address) {
      const body = Buffer.from(JSON.stringify({ organizationId, walletId, address }));
      const headers: [string, string][] = [["X-Stamp", stampWith(actor, body)]];
      const answer = await sendAgain(url, { path: "/public/v1/query/get_wallet_account", headers, body });
      if (answer.status !== 200) throw new Error(`get_wallet_account: ${answer.text}`);
      return answer.json.account.walletAccountId;
    },
  };
}

/** Builds it with a server on SQLite, which is stopped again. */
export async function foundDeployment(t: TestContext, count: number): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), "keystead-hostile-"));
  const aside = await mkdtemp(join(tmpdir(), "keystead-aside-"));
  t.after(async () => {
    for (const each of [folder, aside]) await rm(each, { recursive: true, force: true });
  });
  const dataFolder = join(folder, "data");
  const server = await startKeystead({ dataFolder });
  try {
    const { organizationId: parentId, userId, apiPrivateKey } = server.bootstrap;
    const root: Actor = { userId, userName: "Root user", privateKey: fromHex(apiPrivateKey) };
    const teller = httpTeller(server.url);
    const lets = newBody("set_organization_feature", { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" }, parentId);
    const stamp = stampWith(root, lets);
    await submitTo(server.url, { path: "set_organization_feature", body: lets, stamp });
    const houses = await Promise.all(Array.from({ length: count }, () => newPatient(server, teller, root, parentId)));
    const ruinId = await foundAndDelete(teller, root, parentId);
    const [donor, first, second, ...patients] = houses as [Patient, Patient, Patient, ...Patient[]];
    return { dataFolder, aside, root, parentId, ruinId, patients, donor, witnesses: [first, second] };
  } finally {
    await server.stop();
  }
}

/** Asks for a code, which is sent, and answers it wrongly: so there are a code, an attempt, and what became of a mail. */
async function answerCode({ url }: KeysteadServer, organizationId: string, ann: Actor): Promise<void> {
  const submit = (path: "init_otp" | "verify_otp", parameters: object) => {
    const body = newBody(path, parameters, organizationId);
    return submitTo(url, { path, body, stamp: stampWith(ann, body) });
  };
  const contact = `${organizationId}@example.com`;
  const started = await submit("init_otp", { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example" });
  if (started.status !== 200) throw new Error(`init_otp: ${started.text}`);
  const { otpId } = started.json.activity.result.initOtpResultV2;
  const answered = await submit("verify_otp", { otpId, encryptedOtpBundle: "{}" });
  if (answered.status !== 400) throw new Error(`verify_otp: ${answered.text}`);
  await messageTo(contact);
}

async function newPatient(server: KeysteadServer, teller: Teller, root: Actor, parentId: string): Promise<Patient> {
  const plot = await found(teller, root, parentId, "Patient");
  // While one of them suffices: a code waits for nobody's approval.
  await answerCode(server, plot.organizationId, plot.people[0]);
  let before: Snapshot | undefined;
  const targetOrganization = await furnishHouse(teller, plot, async (when) => {
    if (when !== "when everything is there") return;
    const raw = await openRaw({ kind: "sqlite", folder: join(server.dataFolder, "database") });
    before = await snapshotOf(raw, plot.organizationId);
    await raw.close();
  });
  // One request under a key, so that there is one.
  const body = newBody("create_user_tag", { userTagName: "Keyed", userIds: [] }, targetOrganization.organizationId);
  const keyed = { path: "create_user_tag", body, stamp: stampWith(targetOrganization.ann, body) } as const;
  await submitTo(server.url, keyed, [["Idempotency-Key", "once"]]);
  if (before === undefined) throw new Error("the story went on without a pause");
  return { targetOrganization, before };
}
