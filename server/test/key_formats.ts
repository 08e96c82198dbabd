/** Rows of keys as the release before tags wrote them, marked and sealed by a rig's own deployment. */
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { createSealer } from "../src/signer/secrets/seal.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { decodeRecord, isKeyRecord, type KeyRecord, recordIdOf } from "../src/state/records.ts";
import type { RecordRow } from "./policy_signer_rig.ts";
import type { SignerRig } from "./signer_rig.ts";

type Rig = Pick<SignerRig, "rootKey" | "keyring">;

export function keyRecordOf({ content }: RecordRow): KeyRecord {
  const record = decodeRecord(withoutMac(content));
  if (!isKeyRecord(record)) throw new Error(`${record.kind} is no key`);
  return record;
}

/**
 * The same key in record format 1, under ids of the test's choice: at that time nothing bound an id to a secret. The bytes
 * are written here by the layout in `state/SPEC.md`, so that a change of the encoder does not change what old databases hold.
 */
export function keyOfFormat1(
  { rootKey, keyring }: Rig,
  row: RecordRow,
  ids: Readonly<Record<string, string>>,
): RecordRow {
  const { tag: _tag, madeIn: _madeIn, ...old } = keyRecordOf(row);
  const record = { ...old, ...ids } as KeyRecord;
  const sealer = createSealer(rootKey, 1);
  const secret = sealer.unseal(contextOf(keyRecordOf(row)), row.sealed);
  const content = Buffer.from(JSON.stringify({ format: 1, record }));
  return {
    content: openKeyring(rootKey, 1, keyring).authenticity.mark("record", content),
    sealed: sealer.seal(contextOf(record), secret),
  };
}

function contextOf(record: KeyRecord) {
  const { kind, organizationId } = record;
  return { purpose: `records.${kind}`, organizationId, recordId: recordIdOf(record) };
}
