/** The signer's own marks and memory, against the rows. Each difference is one line. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck } from "@keystead/core/log/released.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { pinDigestLength } from "@keystead/server/signer/memory/pins.ts";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import type { Authenticity } from "@keystead/server/state/authenticity.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { same, unmarked } from "./check_organization.ts";
import type { DeploymentRows, Rows } from "./deployment_rows.ts";

/** Every leaf, header and record, and the head, has the signer's own mark. */
export function checkMarks(rows: Rows, authenticity: Authenticity): string[] {
  const { organization, leaves } = rows;
  const records = Object.values(rows)
    .flat()
    .flatMap((row) => ("record" in row ? [row.record] : []));
  const marked = [
    ...records.map((record) => ["record", record] as const),
    ...leaves.map(({ leaf }) => ["leaf", leaf] as const),
    ...leaves.flatMap(({ header }) => (header === null ? [] : [["header", header] as const])),
    ["header", organization.header] as const,
  ];
  return marked.flatMap(([kind, bytes]) => {
    try {
      authenticity.check(kind, bytes);
      return [];
    } catch (error) {
      return [`organization ${organization.organization_id}: a ${kind} is not the signer's: ${error}`];
    }
  });
}

/**
 * Every leaf and record is the signer's, every leaf it released is here, and its pins are the heads. Only an abandoned request's leaf may
 * be there unreleased: a dying gateway's last statement may commit after the next one has looked.
 */
export function checkMemory(
  { keyring, organizations }: DeploymentRows,
  memoryFolder: string,
  rootKey: Uint8Array,
  abandoned: ReadonlySet<string> = new Set(),
): string[] {
  const found: string[] = [];
  const { authenticity, deploymentId } = openKeyring(rootKey, 1, keyring);
  const memory = openMemory(memoryFolder, rootKey);
  try {
    const check = createReleasedCheck([{ deploymentId, timeMs: 0, page: 0, pages: 1, ranges: memory.released() }]);
    for (const rows of organizations.values()) {
      const { organization, leaves, unreleased } = rows;
      const notMarked = new Set(unreleased.map(({ boot, number }) => `${boot} ${number}`));
      found.push(...checkMarks(rows, authenticity));
      for (const { boot, number, leaf: marked } of leaves) {
        const leaf = decodeLeaf(unmarked(marked));
        check.show(leaf);
        const isMarked = !notMarked.has(`${boot} ${number}`);
        const remembered = memory.wasReleased(Buffer.from(boot, "hex"), number);
        if (!remembered && abandoned.has(toHex(leaf.fingerprint))) continue;
        if (!remembered) found.push(`leaf ${boot} ${number} was never released (marked: ${isMarked})`);
        else if (!isMarked) found.push(`leaf ${boot} ${number} is not marked as released after a clean stop`);
      }
      const pin = memory.pins.get(uuidToBytes(organization.organization_id));
      const digest = sha256(unmarked(organization.header)).subarray(0, pinDigestLength);
      if (pin?.version !== organization.version || !same(pin.digest, digest)) {
        found.push(
          `the pin of ${organization.organization_id} stands at version ${pin?.version}, the database at ${organization.version}`,
        );
      }
    }
    for (const { boot, number } of check.withheld()) {
      found.push(`leaf ${toHex(boot)} ${number} was released and is not in the database`);
    }
  } finally {
    memory.close();
  }
  return found;
}
