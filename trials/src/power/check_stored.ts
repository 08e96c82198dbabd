/**
 * Reads a stopped deployment, whatever it did, and holds database and signer's memory against each other: rows as after any crash,
 * every mark the signer's, every pin on its organization's line and no further back than a power cut can have taken it. Each
 * difference is one line of text.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck } from "@keystead/core/log/released.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { readRecords } from "@keystead/server/signer/memory/memory_records.ts";
import { type Pin, pinDigestLength } from "@keystead/server/signer/memory/pins.ts";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import { deriveKey, sha256 } from "@keystead/server/state/digest.ts";
import type { StoreSource } from "@keystead/server/store/store.ts";
import { withDeployment } from "../crash/check_database.ts";
import { checkMarks } from "../crash/check_memory.ts";
import { checkOrganization, doubles, same, unmarked } from "../crash/check_organization.ts";
import type { Rows } from "../crash/deployment_rows.ts";

/** The newest version of each organization that the signer remembers. */
export type Remembered = ReadonlyMap<string, number>;

export type Stored = {
  source: StoreSource;
  dataFolder: string;
  /** What lay on the disk when the power came back for the last time but one, or before: nothing may have taken it since. */
  remembered: Remembered;
  /** Organizations in which something was done since the cut: there the memory has caught up. */
  acted: ReadonlySet<string>;
};

/** What a stopped signer remembers, without touching its file; nothing before its first start. */
export function rememberedAt(dataFolder: string): Remembered {
  const [path, keyPath] = [join(dataFolder, "signer", "memory"), join(dataFolder, "root.key")];
  const versions = new Map<string, number>();
  if (!existsSync(path) || !existsSync(keyPath)) return versions;
  readRecords(new Uint8Array(readFileSync(path)), deriveKey(readFileSync(keyPath), "memory"), ({ kind, value }) => {
    if (kind !== "release" && kind !== "appended") return;
    for (const { organizationId, version } of value.pins) versions.set(uuidFromBytes(organizationId), version);
  });
  return versions;
}

export function checkStored({ source, dataFolder, remembered, acted }: Stored): Promise<string[]> {
  const rootKey = new Uint8Array(readFileSync(join(dataFolder, "root.key")));
  return withDeployment(source, ({ keyring, organizations }) => {
    const { deploymentId, authenticity } = openKeyring(rootKey, 1, keyring);
    const memory = openMemory(join(dataFolder, "signer"), rootKey);
    try {
      const ranges = memory.released();
      const released = createReleasedCheck([{ deploymentId, timeMs: 0, page: 0, pages: 1, ranges }]);
      const all = [...organizations.values()];
      const lost = [...remembered.keys(), ...acted].filter((id) => !organizations.has(id));
      const found = all.flatMap((rows) => {
        const { organization_id: id } = rows.organization;
        for (const { leaf } of rows.leaves) released.show(decodeLeaf(unmarked(leaf)));
        const least = acted.has(id) ? rows.organization.version : (remembered.get(id) ?? 0);
        return [
          ...checkOrganization(rows),
          ...checkMarks(rows, authenticity),
          ...checkPin(rows, memory.pins.get(uuidToBytes(id)), least),
          ...rows.unreleased.map(({ boot, number }) => `organization ${id}: leaf ${boot} ${number} is not released`),
        ];
      });
      return [
        ...found,
        ...doubles(all.flatMap((rows) => rows.wallet_accounts.map(({ address }) => address))),
        ...lost.map((id) => `organization ${id} is not in the database`),
        ...released.withheld().map(({ boot, number }) => `released and not there: ${toHex(boot)} ${number}`),
      ];
    } finally {
      memory.close();
    }
  });
}

/** The memory may be behind by what a power cut has taken, and never beside: it is a state that the database has. */
function checkPin({ organization, leaves }: Rows, pin: Pin | undefined, least: number): string[] {
  const about = `organization ${organization.organization_id}:`;
  const version = pin?.version ?? 0;
  if (version < least) return [`${about} the signer remembers version ${version}, and had remembered ${least}`];
  if (pin === undefined) return [];
  const header = leaves.find((leaf) => leaf.version === version)?.header ?? undefined;
  const isState = header !== undefined && same(sha256(unmarked(header)).subarray(0, pinDigestLength), pin.digest);
  return isState ? [] : [`${about} the signer remembers another version ${version} than the database has`];
}
