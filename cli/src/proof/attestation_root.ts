/** The root that boot proofs are held against: what the caller has kept, and never what comes with a proof. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readCertificatePem } from "@keystead/core/attestation/read_certificate.ts";
import type { Flags } from "../command.ts";
import { profilePath } from "../profile.ts";

/** DER; undefined where nobody has kept one. */
export function attestationRootOf(flags: Flags): Uint8Array | undefined {
  const { root } = flags;
  const path = profilePath(flags);
  const kept = [path, join(dirname(path), "public_keys.json")].filter((each) => existsSync(each));
  for (const file of root === undefined ? kept : [root]) {
    const pem = pemIn(readFileSync(file, "utf8"));
    if (pem !== undefined) return readCertificatePem(pem);
  }
  if (root !== undefined) throw new Error(`${root} holds no certificate, as PEM or as \`attestationRoot\` of JSON`);
  return undefined;
}

/** A certificate by itself, or in what a server's `/.well-known/keystead.json` was saved as. */
function pemIn(text: string): string | undefined {
  if (text.trimStart().startsWith("-----BEGIN")) return text;
  try {
    const { attestationRoot } = JSON.parse(text);
    return typeof attestationRoot === "string" ? attestationRoot : undefined;
  } catch {
    return undefined;
  }
}
