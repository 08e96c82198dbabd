/** Sessions through gateway and signer: signing in, and asking with what came of it. */

import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import type { AnyQuery } from "../src/endpoints/define_query.ts";
import { createQueryQueue } from "../src/gateway/bounds/query_queue.ts";
import { createStatementExchange } from "../src/gateway/log/statement_exchange.ts";
import { answerQuery } from "../src/gateway/routes/answer_query.ts";
import { queries } from "../src/generated/queries.ts";
import { stampEvidence } from "./evidence.ts";
import type { BodyOptions, GatewayRig, Person } from "./gateway_rig.ts";
import { bytesOf } from "./json_text.ts";

export function newKey(): { privateKey: Uint8Array; publicKey: string } {
  const privateKey = p256.utils.randomSecretKey();
  return { privateKey, publicKey: toHex(p256.getPublicKey(privateKey)) };
}

/** In the spelling that state keeps. */
export function publicKeyOf({ privateKey }: { privateKey: Uint8Array }): string {
  return toHex(p256.getPublicKey(privateKey));
}

export type SessionClaims = {
  exp: number;
  public_key: string;
  session_type: string;
  user_id: string;
  organization_id: string;
};

export function claimsOf(session: string): SessionClaims {
  return JSON.parse(Buffer.from(session.split(".")[1] ?? "", "base64").toString("utf8"));
}

/** Signs in; the person as whom the new key speaks. */
export async function login(
  rig: GatewayRig,
  person: Person,
  options: BodyOptions = {},
  params: object = {},
): Promise<{ session: Person; publicKey: string; claims: SessionClaims; activityId: string; organizationId: string }> {
  const { privateKey, publicKey } = newKey();
  const activity = await rig.submit(person, "stamp_login", { publicKey, ...params }, options);
  const { session } = activity.result.stampLoginResult as { session: string };
  const { id: activityId, organizationId } = activity;
  return { session: { ...person, privateKey }, publicKey, claims: claimsOf(session), activityId, organizationId };
}

const headers = {
  apiKey: "X-Stamp",
  webauthn: "X-Stamp-Webauthn",
  readOnlySession: "X-Session",
  attested: "X-Stamp-Attested",
  attestedIdentity: "X-Stamp-Attested",
  // No header carries it.
  authProxy: "X-Auth-Proxy-Config-ID",
} as const;

/** A query as the door answers it; a refusal is thrown. */
export async function query<T>(
  rig: GatewayRig,
  path: keyof typeof queries,
  request: object,
  by: Person | SentEvidence,
): Promise<T> {
  const body = Buffer.from(JSON.stringify(request));
  const evidence = "kind" in by ? by : stampEvidence(signStamp(by.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body));
  const header = headers[evidence.kind];
  let answer: unknown;
  const { logStatement } = createStatementExchange({ ...rig, signerTrouble: () => undefined });
  const dependencies = { ...rig.dependencies, queryQueue: createQueryQueue(), logStatement };
  const asked = {
    rawHeaders: [header, evidence.value],
    clientVersion: undefined,
    callerAddress: rig.source?.address,
    body,
  } as never;
  await answerQuery(dependencies, queries[path] as AnyQuery, asked, (sent) => {
    if (sent.kind === "json") answer = JSON.parse(bytesOf(sent.text).toString());
  });
  return answer as T;
}
