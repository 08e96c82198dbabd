/** Every secret that a deployment holds, for whoever has its root key: what no place but the signer may ever see. */
import { createPrivateKey } from "node:crypto";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { bytes, decode, encode, fixed, list, struct, text, u8, u32 } from "@keystead/core/encoding/layout.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { generatePrivateKey } from "@keystead/core/keys/key_curves.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { deriveCode } from "@keystead/core/otp/one_time_code.ts";
import { deriveTargetKey } from "@keystead/core/otp/target_key.ts";
import { nodeKeyMaths } from "@keystead/server/curves/node_key_maths.ts";
import { readBody, readEnvelope } from "@keystead/server/endpoints/envelope.ts";
import { activityForms } from "@keystead/server/generated/activities.ts";
import { bearerValuesIn } from "@keystead/server/rules/bearer_params.ts";
import { openBody } from "@keystead/server/signer/decision/body_boxes.ts";
import { secretContext, targetContext } from "@keystead/server/signer/decision/key_records.ts";
import { openResult } from "@keystead/server/signer/decision/results.ts";
import { createCodeSecrets } from "@keystead/server/signer/secrets/code_secrets.ts";
import { keyringContext } from "@keystead/server/signer/secrets/keyring.ts";
import { createSealer, type Sealer } from "@keystead/server/signer/secrets/seal.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { createMac, deriveKey } from "@keystead/server/state/digest.ts";
import { decodePage } from "@keystead/server/state/pages.ts";
import { decodeRecord, type KeyRecord, recordIdOf } from "@keystead/server/state/records.ts";
import { decodeWalletSecret, seedOfWallet } from "@keystead/server/state/wallet_secret.ts";
import { findDeployment } from "@keystead/server/store/across.ts";
import { keyTables, recordOf } from "@keystead/server/store/key_rows.ts";
import type { Store } from "@keystead/server/store/store.ts";

export type Secret = { name: string; bytes: Uint8Array; isSentence?: boolean; isCode?: boolean };

export type OpenedRecord = { record: KeyRecord; secrets: Secret[] };

export async function openRecords(store: Store, sealer: Sealer): Promise<OpenedRecord[]> {
  const opened: OpenedRecord[] = [];
  for (const { table } of Object.values(keyTables)) {
    for (const row of await store.db.selectFrom(table).select(["record", "sealed"]).execute()) {
      const record = recordOf(row);
      opened.push({ record, secrets: secretsOf(record, sealer.unseal(secretContext(record), row.sealed)) });
    }
  }
  return opened;
}

function secretsOf(record: KeyRecord, secret: Uint8Array): Secret[] {
  const of = `${record.kind} ${recordIdOf(record)}`;
  if (record.kind !== "wallet") return [{ name: `key of ${of}`, bytes: secret }];
  const { language } = record;
  const { entropy, passphrase } = decodeWalletSecret(secret);
  return [
    { name: `entropy of ${of}`, bytes: entropy },
    { name: `words of ${of}`, bytes: toSentence(nodeKeyMaths, { entropy, language }), isSentence: true },
    { name: `seed of ${of}`, bytes: seedOfWallet(nodeKeyMaths, language, secret) },
    ...(passphrase === undefined ? [] : [{ name: `passphrase of ${of}`, bytes: passphrase }]),
  ];
}

/** The private halves that wait for imports. */
export async function openTargets(store: Store, sealer: Sealer): Promise<Secret[]> {
  const pages = await store.db.selectFrom("pages").selectAll().where("name", "=", "importTargets").execute();
  return pages.flatMap(({ organization_id, content }) =>
    [...decodePage("importTargets", content).values()].map(({ targetId, sealed }) => ({
      name: `import target ${targetId}`,
      bytes: sealer.unseal(targetContext(organization_id, targetId), Buffer.from(sealed, "base64")),
    })),
  );
}

/** A token or code that somebody sent or was given, and that has not ended. */
export type BearerSecret = { name: string; text: string };

/**
 * Those in bodies that are still closed, and in the results of such activities. The gateway has had them in its hands; what it stores and
 * prints must not have them.
 */
export async function openBearerValues(store: Store, sealer: Sealer): Promise<BearerSecret[]> {
  const rows = await store.db.selectFrom("sealed_bodies").selectAll().execute();
  const values: BearerSecret[] = [];
  for (const { organization_id: organizationId, activity_id, sealed } of rows) {
    const activity = await store.db
      .selectFrom("activities")
      .select(["type", "fingerprint"])
      .where("organization_id", "=", organizationId)
      .where("activity_id", "=", activity_id)
      .executeTakeFirstOrThrow();
    const form = activityForms.get(activity.type);
    if (form === undefined) throw new Error(`a stored activity has the unknown type ${activity.type}`);
    const name = { organizationId, fingerprint: fromHex(activity.fingerprint) };
    const { parameters } = readEnvelope(readBody(openBody({ sealer }, name, sealed).body));
    const texts = bearerValuesIn(form, parameters).map(({ field, value }) => ({ field, value }));
    const leaves = await store.db
      .selectFrom("leaves")
      .select(["leaf", "sealed"])
      .where("organization_id", "=", organizationId)
      .where("activity_id", "=", activity_id)
      .execute();
    for (const { leaf, sealed: box } of leaves) {
      const field = form.activity.bearer?.field;
      if (box === null || field === undefined) continue;
      const result = openResult(sealer, leaf, box);
      const value = (JSON.parse(result.slice(result.indexOf("\n") + 1)) as Record<string, string>)[field] ?? "";
      texts.push({ field, value });
    }
    for (const { field, value } of texts) {
      // A short code may be part of anything by chance; beside the name of its field it is not.
      const text = value.length < 16 ? `"${field}":"${value}"` : value;
      values.push({ name: `${field} of ${activity.type} ${activity_id}`, text });
    }
  }
  return values;
}

const keyringLayout = struct({
  format: u8,
  deploymentId: fixed(16),
  authenticity: fixed(32),
  services: list(struct({ name: text, privateKey: bytes })),
});

/** What keys of keyed hashes are derived for. */
const macLabels = [
  ...["mac/header", "mac/leaf", "mac/record", "blind-index", "record-tag"],
  ...["otp-code", "otp-target", "otp-count", "identity-tokens"],
];

async function openKeyringParts(store: Store, sealer: Sealer) {
  const keyring = await findDeployment(store);
  if (keyring === undefined) throw new Error("the database holds no deployment");
  return decode(keyringLayout, sealer.unseal(keyringContext, keyring));
}

/** The secret behind every MAC and code, the keys made of it, and the service keys. */
export async function openDeployment(store: Store, sealer: Sealer): Promise<Secret[]> {
  const { authenticity, services } = await openKeyringParts(store, sealer);
  const courierKey = deriveKey(authenticity, "courier-messages");
  return [
    { name: "authenticity secret", bytes: authenticity },
    ...macLabels.flatMap((label) => macKeySpellings(`key ${label}`, deriveKey(authenticity, label))),
    { name: "courier key", bytes: courierKey },
    ...macKeySpellings("statement key", deriveKey(courierKey, "issuer-statements")),
    { name: "key of identity tokens", bytes: identityKeyOf(authenticity) },
    ...services.map(({ name, privateKey }) => {
      const { d } = createPrivateKey({ key: Buffer.from(privateKey), format: "der", type: "pkcs8" }).export({
        format: "jwk",
      });
      return { name: `service key ${name}`, bytes: Buffer.from(d ?? "", "base64url") };
    }),
  ];
}

/** The first of a keyed sequence of numbers that is a private key. */
function identityKeyOf(authenticity: Uint8Array): Uint8Array {
  const mac = createMac(deriveKey(authenticity, "identity-tokens"));
  let block = 0;
  return generatePrivateKey("CURVE_P256", () => mac(encode(u32, block++)));
}

/** HMAC (RFC 2104) uses a key in two forms, and whoever computes it often keeps these and not the key. */
function macKeySpellings(name: string, key: Uint8Array): Secret[] {
  return [
    { name, bytes: key },
    { name: `${name} in its inner block`, bytes: key.map((byte) => byte ^ 0x36) },
    { name: `${name} in its outer block`, bytes: key.map((byte) => byte ^ 0x5c) },
  ];
}

/** A code, and the private half of the key that its answer is encrypted to. Neither is stored anywhere: they are derived. */
export type OpenedCode = { otpId: string; code: Secret; target: Secret };

/** Every code that was ever started. */
export async function openCodes(store: Store, sealer: Sealer): Promise<OpenedCode[]> {
  const secrets = createCodeSecrets((await openKeyringParts(store, sealer)).authenticity);
  const rows = await store.db.selectFrom("otp_codes").select("record").execute();
  return rows.map((row) => {
    const record = decodeRecord(withoutMac(row.record));
    if (record.kind !== "otpCode") throw new Error("the record of a code is another's");
    const id = uuidToBytes(record.otpId);
    const code = deriveCode(secrets.code, id, record.form);
    const target = deriveTargetKey({ importKey: (scalar) => Uint8Array.from(scalar) }, secrets.target, id);
    return {
      otpId: record.otpId,
      code: { name: `code ${record.otpId}`, bytes: code, isCode: true },
      target: { name: `target key of code ${record.otpId}`, bytes: target },
    };
  });
}

/** A deployment whose root key was never changed. */
export function firstSealer(rootKey: Uint8Array): Sealer {
  return createSealer(rootKey, 1);
}
