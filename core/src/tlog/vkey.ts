/** Verifier keys: a key's name, id, type and public half in one line, as operators copy them. Layout: SPEC.md. */
import { isStrongEd25519Point } from "../crypto/ed25519_key.ts";
import { toBase64 } from "../encoding/base64.ts";
import { malformed, parseBase64 } from "./lines.ts";
import { isKeyName, type KeyType, keyTypes, type NoteKey, noteKeyId } from "./note.ts";

/** A verifier key that was read. */
export type Vkey = NoteKey;

const what = "verifier key";
const known: readonly number[] = Object.values(keyTypes);

function isKnown(type: number | undefined): type is KeyType {
  return type !== undefined && known.includes(type);
}

/** Writes a verifier key: type 1 for a log, type 4 for a witness. */
export function encodeVkey(name: string, publicKey: Uint8Array, type: KeyType = keyTypes.ed25519): string {
  const vkey = `${name}+${noteKeyId(name, type, publicKey)}+${toBase64(Uint8Array.of(type, ...publicKey))}`;
  parseVkey(vkey);
  return vkey;
}

/** Reads a verifier key; one whose id is not that of its name and key, or with a weak key, is refused. */
export function parseVkey(text: string): Vkey {
  // Base64 may have a plus, a name may not.
  const [, name = "", keyId = "", base64 = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  if (!isKeyName(name)) throw malformed(what, "not of the form name+id+key");
  const [type, ...key] = parseBase64(what, base64);
  if (!isKnown(type)) throw malformed(what, "an unknown type of key");
  const publicKey = Uint8Array.from(key);
  if (!isStrongEd25519Point(publicKey)) throw malformed(what, "not an Ed25519 key");
  if (noteKeyId(name, type, publicKey) !== keyId) throw malformed(what, "the id is not that of the name and the key");
  return { name, keyId, type, publicKey };
}
