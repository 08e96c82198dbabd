/** A signer's key room for tests that run an activity directly: secrets lie open beside their records. */
import { createHash, randomBytes } from "node:crypto";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { nodeBundleSigner, nodeHpke } from "../src/curves/node_hpke.ts";
import { nodeSigning } from "../src/curves/node_signing.ts";
import type { KeyAccess, NewRecord } from "../src/endpoints/key_access.ts";
import { newSessionKey, newTargetKey } from "../src/signer/secrets/draws.ts";
import type { KeyFacts } from "../src/state/entities.ts";
import { recordIdOf } from "../src/state/records.ts";
import { seedOfWallet } from "../src/state/wallet_secret.ts";

/** What a test wants to be there, as outcomes of earlier activities give it. */
export type KeyAccessContent = { records?: readonly NewRecord[]; facts?: readonly KeyFacts[] };

const serviceKey = nodeHpke.generateKey();
const otherServiceKey = nodeHpke.generateKey();

export function testKeyAccess({ records = [], facts = [] }: KeyAccessContent = {}): KeyAccess {
  const kept = records.map((each) => ({ ...each, secret: Uint8Array.from(each.secret) }));
  const blindIndex: KeyAccess["blindIndex"] = (kind, secret, organizationId = "acme") =>
    createHash("sha256").update(organizationId).update(kind).update(secret).digest("hex");
  const toldBy = ({ record, secret }: NewRecord) =>
    record.kind === "wallet" ? seedOfWallet(nodeSigning.keys, record.language, secret) : secret;
  return {
    signing: nodeSigning,
    hpke: nodeHpke as unknown as KeyAccess["hpke"],
    bundleSigner: nodeBundleSigner(serviceKey),
    notarizer: nodeBundleSigner(otherServiceKey),
    clientSecretKey: serviceKey,
    newSessionKey,
    newTargetKey,
    isServiceKey: (hex) => [serviceKey, otherServiceKey].some((key) => toHex(nodeHpke.publicKey(key)) === hex),
    random: (length) => new Uint8Array(randomBytes(length)),
    records: kept.map(({ record }) => record),
    factsOf: (id) => facts.findLast((each) => each.id === id),
    open(record) {
      const found = kept.find((each) => recordIdOf(each.record) === recordIdOf(record));
      if (found === undefined) throw new Error("no such record");
      return Uint8Array.from(found.secret);
    },
    blindIndex,
    tag: (kind, secret, organizationId) =>
      createHash("sha256")
        .update("tag")
        .update(blindIndex(kind, secret, organizationId))
        .digest("hex"),
    findByBlindIndex: (kind, index) =>
      kept.find((each) => each.record.kind === kind && blindIndex(kind, toldBy(each)) === index)?.record,
    sealTarget: (_targetId, privateKey) => Buffer.from(privateKey).toString("base64"),
    openTarget: ({ sealed }) => new Uint8Array(Buffer.from(sealed, "base64")),
  };
}
