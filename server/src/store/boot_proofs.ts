/** Boot proofs as they are stored: the signer's bytes, the key that finds them, and the list of files beside them. */
import type { Kysely } from "kysely";
import { read } from "./read.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type NewBootProof = {
  /** 130 bytes in hex. */
  ephemeralKey: string;
  proof: Uint8Array;
  createdAtMs: number;
  /** The list of what this start has loaded, by its SHA-256 in hex. */
  files: { digest: string; list: Uint8Array };
};

export type BootProofRow = {
  /** The deployment's first organization, in whose log its leaf stands. */
  organizationId: string;
  proof: Uint8Array;
  loadedFiles: Uint8Array;
};

export function selectBootProofs(db: Kysely<Tables>) {
  return db
    .selectFrom("boot_proofs")
    .innerJoin("loaded_files", (join) =>
      join
        .onRef("loaded_files.organization_id", "=", "boot_proofs.organization_id")
        .onRef("loaded_files.digest", "=", "boot_proofs.files_digest"),
    )
    .select([
      "boot_proofs.organization_id as organizationId",
      "boot_proofs.proof as proof",
      "loaded_files.list as loadedFiles",
    ]);
}

/** What one start of the signer has shown, as the signer wrote it. */
export async function findProofOfBoot(
  { db }: Store,
  organizationId: string,
  boot: string,
): Promise<Uint8Array | undefined> {
  const [row] = await read(
    db.selectFrom("boot_proofs").select("proof").where("organization_id", "=", organizationId).where("boot", "=", boot),
  );
  return row?.proof;
}
