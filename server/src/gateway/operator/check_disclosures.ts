/**
 * What leaves name by digest, for whoever executes the log anew: what was made, which lies beside the leaf, and the records' contents and
 * the operator's orders, which lie in a table of their own. What was erased is no fault of the log, but only a backup has it.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { sha256 } from "../../state/digest.ts";
import { type Inside, rowsOf, rowsWith } from "../../store/projection_rows.ts";
import type { Findings } from "./check_findings.ts";
import type { LeafCheck, LeafInRow } from "./leaf_check.ts";
import type { Vouching } from "./vouching.ts";

const rowsAtOnce = 200;
const sha256Hex = /^[0-9a-f]{64}$/;

/** Of leaves whose rows are the signer's own. */
export async function checkNamed(
  { tx, organizationId, findings }: LeafCheck,
  found: readonly LeafInRow[],
): Promise<void> {
  const named = found.flatMap(({ leaf, row }) => {
    const name = `leaves ${row.boot} ${row.number}`;
    const digests = digestsIn(leaf, row.made);
    if (digests !== undefined) return digests.map((digest) => ({ name, digest }));
    findings.lost(`${name}: made is not what the leaf names`);
    return [];
  });
  const rows = await rowsWith(tx, "disclosures", organizationId, "digest", [
    ...new Set(named.map(({ digest }) => digest)),
  ]);
  const there = new Set(rows.map(({ digest }) => digest));
  for (const { name, digest } of named) {
    if (!there.has(digest)) findings.lost(`disclosures ${digest}: it is missing, and ${name} names it`);
  }
}

/** Undefined where the bytes beside it are not those that it names. Leaves from before anything was disclosed name nothing. */
function digestsIn({ outside }: Leaf, made: Uint8Array | null): string[] | undefined {
  const [bound, ...contents] = outside.flatMap(({ kind, value }) => (kind === "made" ? toHex(value.value) : []));
  if (bound !== undefined && (made === null || toHex(sha256(made)) !== bound)) return undefined;
  return contents;
}

/** Each row is known by its content, and a sealed one by what its box opens for. */
export async function checkContents(
  tx: Inside,
  vouching: Vouching,
  organizationId: string,
  findings: Findings,
): Promise<void> {
  for await (const rows of rowsOf(tx, "sealed_disclosures", organizationId, rowsAtOnce)) {
    const readable = rows.filter(({ digest }) => sha256Hex.test(digest));
    const asked = readable.map(({ digest, sealed }) => ({ organizationId, fingerprint: fromHex(digest), sealed }));
    const verdicts = await vouching.tokens(asked);
    const own = new Set(readable.filter((_, index) => verdicts[index] === true));
    for (const row of rows) if (!own.has(row)) findings.lost(`sealed_disclosures ${row.digest}: its box does not open`);
  }
  for await (const rows of rowsOf(tx, "disclosures", organizationId, rowsAtOnce)) {
    for (const { digest, content } of rows) {
      if (toHex(sha256(content)) !== digest) findings.lost(`disclosures ${digest}: its content is another`);
    }
  }
}
