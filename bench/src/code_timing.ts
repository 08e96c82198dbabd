/**
 * What the time of an answer tells about one-time codes: whether anybody has a contact that a code is sent to, and whether the first
 * character of a wrong answer is right. Both of a pair are timed one after the other, in random order. No test asserts these figures: a
 * machine with other work on it adds times of its own.
 */
import { randomInt, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { deriveCode, type KeyedHash } from "@keystead/core/otp/one_time_code.ts";
import { createKey, type KeyPair, keyFrom } from "@keystead/e2e/key_pairs.ts";
import { startKeystead } from "@keystead/e2e/keystead_server.ts";
import { type Answer, sendOnce } from "@keystead/e2e/wire.ts";
import { activities } from "@keystead/sdk";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { attemptKey } from "@keystead/server/state/record_wish.ts";
import { decodeRecord } from "@keystead/server/state/records.ts";
import { activityBody, createSignerRig, offer, only, type SignerRig } from "../../server/test/signer_rig.ts";
import { quickStamp } from "../../trials/src/races/quick_stamp.ts";
import { quantile, welchT } from "./statistics.ts";

export type TimingPlan = { pairs: number; warmUpPairs: number };

/** In microseconds, each beside the other of its pair. */
type Pairs = { question: string; names: readonly [string, string]; us: [number[], number[]] };

/** As is usual where times are compared for what they give away. */
const target = 4.5;

export async function measureCodeTiming(plan: TimingPlan, say: (progress: string) => void): Promise<Pairs[]> {
  return [measureFirstCharacter(plan, say), await measureContacts(plan, say)];
}

/** Both of a pair in random order; those of the warm-up are not kept. */
function order(): readonly [0 | 1, 0 | 1] {
  return randomInt(2) === 0 ? [0, 1] : [1, 0];
}

type Started = { otpId: string; code: string; records: Parameters<typeof offer>[3] };

/** In this process: the signer decides on two wrong answers to one code, which differ in the first character. */
function measureFirstCharacter({ pairs, warmUpPairs }: TimingPlan, say: (progress: string) => void): Pairs {
  const rig = createSignerRig();
  const key = keyFrom("API_KEY_CURVE_P256", rig.apiPrivateKey);
  const { codes } = openKeyring(rig.rootKey, 1, rig.keyring);
  const us: Pairs["us"] = [[], []];
  for (let pair = -warmUpPairs; pair < pairs; pair++) {
    if (pair % 100 === 0) say(`first character: pair ${pair} of ${pairs}`);
    const { otpId, code, records } = startCode(rig, key, codes.code);
    const last = code.endsWith("0") ? "1" : "0";
    const first = code.startsWith("0") ? "1" : "0";
    const typed = [`${code.slice(0, -1)}${last}`, `${first}${code.slice(1, -1)}${last}`] as const;
    for (const which of order()) {
      const body = activityBody(rig, "ACTIVITY_TYPE_VERIFY_OTP", { otpId, otpCode: typed[which] });
      const options = { ...records, wishes: [attemptKey(otpId)], stamp: quickStamp(key, body) };
      const begun = performance.now();
      offer(rig, rig.born, body, options);
      const tookUs = (performance.now() - begun) * 1000;
      if (pair >= 0) us[which].push(tookUs);
    }
  }
  return { question: "first character of a wrong answer, in the signer", names: ["right", "wrong"], us };
}

function startCode(rig: SignerRig, key: KeyPair, codeHash: KeyedHash): Started {
  const form = { otpLength: 6, alphanumeric: false };
  const parameters = { otpType: "OTP_TYPE_EMAIL", contact: `${randomUUID()}@example.com`, appName: "Example", ...form };
  const body = activityBody(rig, "ACTIVITY_TYPE_INIT_OTP_V2", parameters);
  const reply = offer(rig, rig.born, body, { stamp: quickStamp(key, body) });
  if (reply.kind !== "prepared") throw new Error("no code was started");
  const [made] = only(reply.value).codes;
  if (made === undefined) throw new Error("no code was started");
  const record = decodeRecord(withoutMac(made.content));
  if (record.kind !== "otpCode") throw new Error("no code was started");
  const code = Buffer.from(deriveCode(codeHash, uuidToBytes(record.otpId), record.form)).toString("latin1");
  return { otpId: record.otpId, code, records: { records: [{ content: made.content, sealed: new Uint8Array() }] } };
}

/** A contact may have three live codes. */
const codesPerContact = 3;

/** Over HTTP on one connection: codes for contacts that users of sub-organizations have, and for contacts that nobody has. */
async function measureContacts({ pairs, warmUpPairs }: TimingPlan, say: (progress: string) => void): Promise<Pairs> {
  const folder = await mkdtemp(join(tmpdir(), "keystead-bench-"));
  const server = await startKeystead({ dataFolder: join(folder, "data") });
  try {
    const { organizationId, apiPrivateKey } = server.bootstrap;
    const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
    let lastMs = 0;
    const prepare = (path: "init_otp" | "create_sub_organization", parameters: object) => {
      lastMs = Math.max(Date.now(), lastMs + 1);
      const { type, url } = activities[path];
      const body = JSON.stringify({ type, timestampMs: String(lastMs), organizationId, parameters });
      const headers = [
        ["Content-Type", "application/json"] as const,
        ["X-Stamp", quickStamp(key, Buffer.from(body))] as const,
      ];
      return () => sendOnce(server.url, { path: url, headers, body });
    };
    const count = Math.ceil((pairs + warmUpPairs) / codesPerContact);
    const contacts = [0, 1].map(() => Array.from({ length: count }, () => `${randomUUID()}@example.com`));
    for (const [index, contact] of (contacts[0] ?? []).entries()) {
      say(`contacts: user ${index} of ${count}`);
      checked(await prepare("create_sub_organization", subOrganization(contact))());
    }
    const us: Pairs["us"] = [[], []];
    for (let pair = -warmUpPairs; pair < pairs; pair++) {
      if (pair % 100 === 0) say(`contacts: pair ${pair} of ${pairs}`);
      for (const which of order()) {
        const contact = contacts[which]?.[(pair + warmUpPairs) % count];
        const asked = { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example" };
        const send = prepare("init_otp", asked);
        const begun = performance.now();
        const answer = await send();
        const tookUs = (performance.now() - begun) * 1000;
        checked(answer);
        if (pair >= 0) us[which].push(tookUs);
      }
    }
    return { question: "contact of init_otp, over HTTP", names: ["known", "unknown"], us };
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function subOrganization(userEmail: string): object {
  const { publicKey } = createKey();
  const apiKey = { apiKeyName: "bench", publicKey, curveType: "API_KEY_CURVE_P256" };
  const user = { userName: "User", userEmail, apiKeys: [apiKey], authenticators: [], oauthProviders: [] };
  return { subOrganizationName: "Bench", rootUsers: [user], rootQuorumThreshold: 1 };
}

function checked({ status, text }: Answer): void {
  if (status !== 200) throw new Error(`${status}: ${text}`);
}

/** Of all times, and without the longest twentieth, which is mostly the machine's own doing. */
function figuresOf({ us }: Pairs): { all: number; without: number } {
  const longest = quantile(us.flat(), 0.95);
  const [a, b] = us.map((each) => each.filter((value) => value <= longest)) as [number[], number[]];
  return { all: welchT(...us), without: welchT(a, b) };
}

export function isApart(pairs: Pairs): boolean {
  const { all, without } = figuresOf(pairs);
  return Math.max(Math.abs(all), Math.abs(without)) >= target;
}

export function codeTimingText(measured: readonly Pairs[]): string {
  return [
    "Times of one-time codes in pairs. `t`: Welch's t of all times, and of those without the longest twentieth.",
    "",
    ...measured.map((pairs) => {
      const { question, names, us } = pairs;
      const { all, without } = figuresOf(pairs);
      const medians = names.map((name, which) => `${name} ${quantile(us[which] ?? [], 0.5).toFixed(1)} µs`).join(", ");
      return `${question}: ${us[0].length} pairs; median ${medians}; t ${all.toFixed(2)} and ${without.toFixed(2)}  (target |t| < ${target})`;
    }),
  ].join("\n");
}
