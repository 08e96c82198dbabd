/** Opens app proofs of activities whose leaves are released, and has their text stored with the next group. */
import type { StoredAppProofs } from "../../store/app_proofs.ts";
import { findLeaf, isUnreleased } from "../../store/leaves.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { Releases } from "./releases.ts";
import { toLeftover } from "./stored_leaf.ts";

/** Sealed proofs with what they are opened beside. */
export type SealedAppProofs = Omit<StoredAppProofs, "proofs"> & { leaf: Uint8Array };

export type ProofOpening = {
  /** The JSON of app proofs; undefined as long as the activity is not released. */
  openProofs(stored: StoredAppProofs): Promise<string | undefined>;
  /** Of a leaf that was released a moment ago. */
  openReleased(sealed: SealedAppProofs): Promise<string | undefined>;
};

export function createProofOpening(store: Store, link: SignerLink, releases: Releases): ProofOpening {
  async function openReleased({ leaf, sealed, ...named }: SealedAppProofs): Promise<string | undefined> {
    const [reply] = await link.request("openProofs", { rows: [{ leaf, proofs: sealed }] });
    if (reply?.kind !== "opened") return undefined;
    const { proofs } = reply.value;
    releases.note({ ...named, proofs });
    return proofs;
  }

  return {
    openReleased,
    async openProofs({ proofs, ...stored }) {
      if (proofs !== null) return proofs;
      const { organizationId, boot, number } = stored;
      const leaf = await findLeaf(store, organizationId, boot, number);
      if (leaf === undefined) return undefined;
      const sealed = { ...stored, leaf: leaf.leaf };
      const opened = await openReleased(sealed);
      if (opened !== undefined || (await isUnreleased(store, organizationId, boot, number))) return opened;
      // Another host's signer has released it; this one believes what it has released itself.
      await releases.open([toLeftover(leaf)]);
      return openReleased(sealed);
    },
  };
}
