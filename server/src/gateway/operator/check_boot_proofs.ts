/**
 * Boot proofs against the leaves of starts, which name each by its digest, and the lists of files against theirs. A proof is the signer's
 * bytes: one that is changed or gone can come back from a backup alone, but the columns beside it follow from it.
 */
import { decodeBootProof } from "@keystead/core/attestation/boot_proof.ts";
import { readManifest } from "@keystead/core/attestation/manifest.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { sha256 } from "../../state/digest.ts";
import { differingColumns } from "../../store/projection.ts";
import { deleteRow, type Inside, insertRow, rowsOf } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";

export type BootProofsCheck = {
  tx: Inside;
  organizationId: string;
  /** The boot of each start that a leaf tells of, by the digest of its proof in hex. */
  starts: ReadonlyMap<string, string>;
  findings: Findings;
};

type Row = Tables["boot_proofs"];

const rowsAtOnce = 100;

export async function checkBootProofs(check: BootProofsCheck): Promise<void> {
  const { tx, organizationId, starts, findings } = check;
  const files = await checkLoadedFiles(check);
  const found = new Map<string, Row[]>();
  const strangers: Row[] = [];
  for await (const rows of rowsOf(tx, "boot_proofs", organizationId, rowsAtOnce)) {
    for (const row of rows) {
      const digest = toHex(sha256(row.proof));
      if (starts.has(digest)) found.set(digest, [...(found.get(digest) ?? []), row]);
      else strangers.push(row);
    }
  }
  const shown = new Set([...found.keys()].map((digest) => starts.get(digest)));
  // Before any row is put where it belongs: one of these may stand there.
  for (const row of strangers) {
    // Of a start that has shown no other, the leaf may be what is gone.
    if (shown.has(row.boot)) await drop(check, row, "its start has shown another");
    else {
      findings.lost(
        `boot_proofs ${nameOf(row)}: no leaf of a start names it: it was changed or put in, or the leaf is gone`,
      );
    }
  }
  for (const [digest, boot] of starts) {
    const rows = found.get(digest) ?? [];
    if (rows.length === 0) findings.lost(`boot_proofs: the proof of signer boot ${boot} is missing or changed`);
    await checkProven(check, rows, boot, files);
  }
}

/** The digests of lists that are there. */
async function checkLoadedFiles({ tx, organizationId, findings }: BootProofsCheck): Promise<Set<string>> {
  const there = new Set<string>();
  for await (const rows of rowsOf(tx, "loaded_files", organizationId, rowsAtOnce)) {
    for (const { digest, list } of rows) {
      if (toHex(sha256(list)) === digest) there.add(digest);
      else findings.lost(`loaded_files ${digest}: its content is another`);
    }
  }
  return there;
}

/** Rows that all hold the proof of one start: one of them is to stay. */
async function checkProven(
  check: BootProofsCheck,
  rows: readonly Row[],
  boot: string,
  files: ReadonlySet<string>,
): Promise<void> {
  const { tx, findings } = check;
  const [first] = rows;
  if (first === undefined) return;
  const { ephemeralKey, createdAtMs, manifest } = decodeBootProof(first.proof);
  const key = toHex(ephemeralKey);
  const digest = toHex(readManifest(manifest).pivotHash);
  if (!files.has(digest)) {
    findings.lost(`loaded_files ${digest}: it is missing, and the proof of signer boot ${boot} names it`);
  }
  const row = rows.find(({ ephemeral_key }) => ephemeral_key === key) ?? first;
  for (const other of rows) if (other !== row) await drop(check, other, "it is there twice");
  const own = { ...row, ephemeral_key: key, boot, files_digest: digest, created_at_ms: createdAtMs };
  const columns = differingColumns(own, row);
  if (columns.length === 0) return;
  if (!findings.differs(`boot_proofs ${nameOf(row)}: ${columns.join(", ")} not as in the proof`)) return;
  await deleteRow(tx, "boot_proofs", row);
  // Whatever stands under its key is not the signer's.
  await deleteRow(tx, "boot_proofs", own);
  await insertRow(tx, "boot_proofs", own);
}

async function drop({ tx, findings }: BootProofsCheck, row: Row, why: string): Promise<void> {
  if (findings.differs(`boot_proofs ${nameOf(row)}: ${why}`)) await deleteRow(tx, "boot_proofs", row);
}

/** Its key is 260 digits long. */
function nameOf({ ephemeral_key, boot }: Row): string {
  return `${ephemeral_key.slice(0, 16)}… of boot ${boot}`;
}
