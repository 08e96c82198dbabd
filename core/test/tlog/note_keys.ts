/** Keys that sign notes in tests. The same name has the same key each time. */
import { createHash } from "node:crypto";
import { nobleSigning } from "../../src/crypto/noble_signing.ts";
import { type KeyType, keyTypes, type NoteKey, noteKeyId, type Sign } from "../../src/tlog/note.ts";

export function keyOf(name: string, type: KeyType = keyTypes.ed25519): NoteKey & { sign: Sign } {
  const privateKey = new Uint8Array(createHash("sha256").update(`note key ${name}`).digest());
  const publicKey = nobleSigning.keys.ed25519.publicKey(privateKey);
  return {
    name,
    keyId: noteKeyId(name, type, publicKey),
    type,
    publicKey,
    sign: (message) => nobleSigning.ed25519(privateKey, message),
  };
}
