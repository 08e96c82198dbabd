/**
 * What is asked of an organization, whatever was done to its rows, and what is wrong with the answers. The judge knows the story: who
 * may do what in each of them now, and which key signs. A right answer is right; a refusal is right where something was done; any
 * other is not.
 */
import { createHash } from "node:crypto";
import { queries } from "@keystead/e2e/generated/endpoints.ts";
import type { Answer } from "@keystead/e2e/wire.ts";
import { recoverAddress } from "viem";
import { type Random, shuffled } from "../../../core/test/seeded_random.ts";
import { stampWith } from "../../../server/test/hostile_run.ts";
import {
  type Place,
  type Verdict,
  type Want,
  type WishName,
  wantOf,
  wishNames,
} from "../../../server/test/hostile_wants.ts";
import { sendAgain, submitTo } from "./patients.ts";

export type Outcome = "right" | "refused" | "unavailable" | "failed";

export type Probed = {
  outcomes: Record<Outcome, number>;
  /** What came of each want. */
  acts: { name: WishName; verdict: Verdict; outcome: Outcome }[];
  /** Answers that must never be. */
  wrong: string[];
  /** Answers that must not be where nothing was done. */
  unwell: string[];
};

const needsAnId = "it names something that the story may never have made";

/** Queries that are not asked. */
const unasked: Readonly<Record<string, string>> = {
  get_activity: needsAnId,
  get_api_key: needsAnId,
  get_api_keys: needsAnId,
  get_authenticator: needsAnId,
  get_authenticators: needsAnId,
  get_boot_proof: needsAnId,
  get_log_file: needsAnId,
  get_latest_boot_proof: "it is about the signer's start, which is no organization's",
  get_oauth2_credential: needsAnId,
  get_policy: needsAnId,
  get_policy_evaluations: needsAnId,
  get_private_key: needsAnId,
  get_proof_context: needsAnId,
  get_session_profile: needsAnId,
  get_smart_contract_interface: needsAnId,
  get_user: needsAnId,
  get_wallet: needsAnId,
  get_wallet_account: needsAnId,
  list_app_proofs: needsAnId,
  list_email_events: "it is about one address, which nobody here was sent anything at",
  list_verified_suborgs: "it is about others than the organization itself",
  list_suborgs: "it is about others than the organization itself",
  simulate_activity: "it decides as an activity would, and activities are what is asked for above",
} satisfies Partial<Record<keyof typeof queries, string>>;

/** All others need no more than an organization; a new one is asked from the beginning. */
const plainQueries = Object.keys(queries).filter((name) => unasked[name] === undefined);

/** These wait for a clock, or are about others than the organization itself. */
const leftOut: readonly WishName[] = [
  "a request of two hours ago",
  "a request of ten minutes ahead",
  "an owner of a deleted organization makes a tag",
  // Whoever has voted already is shown what became of it.
  "an approval by its own proposer",
];
const asked = wishNames.filter((name) => !leftOut.includes(name));

/** Every want and every query, or `count` wants by chance. */
export async function probe(url: string, place: Place, random: Random, count = asked.length): Promise<Probed> {
  const outcomes = { right: 0, refused: 0, unavailable: 0, failed: 0 };
  const probed: Probed = { outcomes, acts: [], wrong: [], unwell: [] };
  const chosen = shuffled(asked, random).slice(0, count);
  for (const name of chosen) {
    const want = wantOf(place, random, name);
    const judged = await judgeWant(place, want, await submitTo(url, want));
    note(probed, name, judged);
    probed.acts.push({ name, verdict: want.verdict, outcome: judged.outcome });
  }
  note(probed, "a request of the story once more", judgeOld(await repeatUndone(url, place)));
  for (const name of plainQueries) {
    const body = Buffer.from(JSON.stringify({ organizationId: place.targetOrganization.organizationId }));
    const stamp = stampWith(place.targetOrganization.ann, body);
    const answer = await sendAgain(url, { path: `/public/v1/query/${name}`, headers: [["X-Stamp", stamp]], body });
    note(probed, name, answer.status === 200 ? { outcome: "right" } : refusalIn(answer));
  }
  return probed;
}

type Judged = { outcome: Outcome; wrong?: string; unwell?: string };

function note(probed: Probed, name: string, { outcome, wrong, unwell }: Judged): void {
  probed.outcomes[outcome] += 1;
  if (wrong !== undefined) probed.wrong.push(`${name}: ${wrong}`);
  if (unwell !== undefined) probed.unwell.push(`${name}: ${unwell}`);
}

/** A refusal, by its kind. */
function refusalIn({ status, text }: Answer): Judged {
  if (status === 503) return { outcome: "unavailable", unwell: text };
  if (status >= 500) return { outcome: "failed", unwell: text };
  return { outcome: "refused", unwell: text };
}

async function judgeWant(place: Place, want: Want, answer: Answer): Promise<Judged> {
  if (answer.status !== 200) {
    const judged = refusalIn(answer);
    // Nobody is harmed who should have been refused anyway; but it must be a refusal, not a mistake of ours.
    return want.verdict === "NOTHING" && judged.outcome === "refused" ? { outcome: "right" } : judged;
  }
  const { status, result } = answer.json.activity;
  if (status === "ACTIVITY_STATUS_CONSENSUS_NEEDED") {
    if (want.verdict === "NOTHING") return { outcome: "failed", wrong: `it waits: ${answer.text}` };
    return want.verdict === "WAITS" ? { outcome: "right" } : { outcome: "refused", unwell: "it waits" };
  }
  if (status === "ACTIVITY_STATUS_REJECTED" || status === "ACTIVITY_STATUS_FAILED") {
    return want.verdict === "NOTHING" ? { outcome: "right" } : { outcome: "refused", unwell: status };
  }
  if (want.verdict !== "DONE") return { outcome: "failed", wrong: `it was done: ${answer.text}` };
  const signature = result.signRawPayloadResult;
  if (signature !== undefined && (await signerOf(want, signature)) !== place.targetOrganization.address) {
    return { outcome: "failed", wrong: `another key signed: ${answer.text}` };
  }
  return { outcome: "right" };
}

type WireSignature = { r: string; s: string; v: string };

/** The address of whoever made the signature over the payload that was asked for. */
async function signerOf({ body }: Want, { r, s, v }: WireSignature): Promise<string> {
  const { payload } = JSON.parse(Buffer.from(body).toString("utf8")).parameters;
  const hash = `0x${createHash("sha256").update(payload, "hex").digest("hex")}` as const;
  return recoverAddress({ hash, signature: `0x${r}${s}${(27 + Number(v)).toString(16)}` });
}

/** Made once and deleted since: the same bytes are the same activity, and must not run again. */
function repeatUndone(url: string, { targetOrganization }: Place): Promise<Answer> {
  return submitTo(url, {
    path: "create_user_tag",
    body: targetOrganization.undone,
    stamp: stampWith(targetOrganization.ann, targetOrganization.undone),
  });
}

function judgeOld(answer: Answer): Judged {
  if (answer.status !== 200) return refusalIn(answer);
  const { status } = answer.json.activity;
  const createdAtMs = Date.parse(answer.json.activity.createdAt);
  const { timestampMs } = JSON.parse(answer.json.activity.votes[0]?.message ?? "{}");
  const isOld = status === "ACTIVITY_STATUS_COMPLETED" && Math.abs(createdAtMs - Number(timestampMs)) < 60_000;
  return isOld
    ? { outcome: "right" }
    : { outcome: "refused", unwell: `it is ${status}, of ${answer.json.activity.createdAt}` };
}
