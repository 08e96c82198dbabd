/** Leaves marked by a rig's own deployment: as the release before wrote them, or as no release would. */
import { decodeLeaf, encodeLeaf, type Leaf, type NewLeaf } from "@keystead/core/log/leaf.ts";
import { formatOne } from "../../core/test/leaf_bytes.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import type { SignerRig } from "./signer_rig.ts";

export function markedLeaf({ rootKey, keyring }: SignerRig, content: Uint8Array): Uint8Array {
  return Uint8Array.from(openKeyring(rootKey, 1, keyring).authenticity.mark("leaf", content));
}

const read = (marked: Uint8Array): Leaf => decodeLeaf(Uint8Array.from(withoutMac(marked)));

/** The same leaf as format 1 has it. */
export function asFormat1(rig: SignerRig, marked: Uint8Array): Uint8Array {
  return markedLeaf(rig, formatOne(read(marked)));
}

/** The same leaf with other values. */
export function changedLeaf(rig: SignerRig, marked: Uint8Array, change: Partial<NewLeaf>): Uint8Array {
  return markedLeaf(rig, encodeLeaf({ ...read(marked), blind: new Uint8Array(16), ...change }));
}
