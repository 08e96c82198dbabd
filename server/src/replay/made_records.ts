/** The records that an act made, as they were: their contents from the log, and beside each a secret that is nobody's. */
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { Prepared, StoredRecord } from "../frames/messages.ts";
import type { Authenticity } from "../state/authenticity.ts";
import { withoutMac } from "../state/authenticity.ts";
import { sha256 } from "../state/digest.ts";
import { decodeContents, decodeMade } from "../state/drawn.ts";
import { type AnyRecord, decodeRecord, encodeRecord, isKeyRecord, withLeaf } from "../state/records.ts";
import type { ToldRecords } from "./told.ts";

/** What an export discloses of an act's records. `made` may lie beside a leaf that does not name it, of before leaves did. */
export function toldRecordsOf(
  { outside }: Leaf,
  find: (digest: Uint8Array) => Uint8Array | undefined,
  beside?: Uint8Array,
): ToldRecords & { isDisclosed: boolean } {
  const [made, contents] = outside.flatMap(({ kind, value }) => (kind === "made" ? [find(value.value)] : []));
  const bound = outside.some(({ kind }) => kind === "made");
  const bytes = made ?? (bound ? undefined : beside);
  return {
    made: bytes === undefined ? [] : decodeMade(bytes),
    contents: contents === undefined ? [] : decodeContents(contents),
    isDisclosed: !bound || made !== undefined,
  };
}

export type Kept = { records: StoredRecord[]; differences: string[]; unchecked: string[] };

/** Where the contents of records are looked for, and for those that are nowhere, the result of the act, which has their addresses. */
export type RecordSource = {
  told: ToldRecords;
  find(digest: Uint8Array): Uint8Array | undefined;
  result: Uint8Array | undefined;
};

export function recordsAsTheyWere(
  authenticity: Authenticity,
  leaf: Leaf,
  prepared: Prepared["records"],
  { told, find, result }: RecordSource,
): Kept {
  const differences: string[] = [];
  const unchecked = new Set<string>();
  const addresses = addressesIn(parseResult(result));
  const contents = [...told.contents];
  if (told.made.length !== prepared.length)
    differences.push(`made ${told.made.length} records, and now ${prepared.length}`);
  const records = prepared.map(({ content, sealed }, index) => {
    const own = decodeRecord(withoutMac(content));
    const { digest = new Uint8Array() } = told.made[index] ?? {};
    const kept = isKeyRecord(own) ? (contents.shift() ?? find(digest)) : encodeRecord(own);
    if (kept === undefined) {
      unchecked.add("undisclosed: the content of a key's record");
      return { content: authenticity.mark("record", encodeRecord(withAddresses(own, leaf, addresses))), sealed };
    }
    if (toHex(sha256(kept)) !== toHex(digest)) {
      differences.push("a record is not the one that the leaf tells of");
    }
    const then = decodeRecord(kept);
    if (!isDeepStrictEqual(withoutSecrets(then), withoutSecrets(own))) {
      differences.push(`made ${JSON.stringify(withoutSecrets(then))}, and now ${JSON.stringify(withoutSecrets(own))}`);
    }
    return { content: authenticity.mark("record", Uint8Array.from(kept)), sealed };
  });
  return { records, differences, unchecked: [...unchecked] };
}

/** What follows from no secret, and from no process. */
function withoutSecrets(record: AnyRecord): object {
  if (!isKeyRecord(record)) return record;
  const { madeIn: _, ...own } = record;
  if (own.kind === "wallet") return own.imported ? { ...own, language: "" } : own;
  if (own.kind === "walletAccount") return { ...own, address: "", publicKey: "" };
  return { ...own, publicKey: "", addresses: own.addresses.map(({ format }) => format) };
}

function withAddresses(record: AnyRecord, { boot, number }: Leaf, addresses: string[]): AnyRecord {
  if (!isKeyRecord(record)) return record;
  const told = withLeaf(record, boot, number);
  if (told.kind === "walletAccount") return { ...told, address: addresses.shift() ?? told.address };
  if (told.kind !== "privateKey") return told;
  return {
    ...told,
    addresses: told.addresses.map(({ format, address }) => ({ format, address: addresses.shift() ?? address })),
  };
}

type ResultJson = { addresses?: (string | { address: string })[]; wallet?: ResultJson; privateKeys?: ResultJson[] };

function parseResult(result: Uint8Array | undefined): ResultJson {
  if (result === undefined || result.length === 0) return {};
  return JSON.parse(new TextDecoder().decode(result)) as ResultJson;
}

/** In the order in which they were asked for, which is that of the records. */
function addressesIn({ addresses = [], wallet, privateKeys = [] }: ResultJson): string[] {
  const own = addresses.map((each) => (typeof each === "string" ? each : each.address));
  return [...own, ...(wallet === undefined ? [] : addressesIn(wallet)), ...privateKeys.flatMap(addressesIn)];
}
