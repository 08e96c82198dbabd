/** What exports and imports have in common: bundles that the signer has signed. */
import assert from "node:assert/strict";
import type { Fixture, Json } from "./fixture.ts";

/** What is signed in a bundle, which has exactly these fields. */
export function signedData(bundle: string): Json {
  const { version, data, dataSignature, enclaveQuorumPublic, ...nothing } = JSON.parse(bundle);
  assert.deepEqual(nothing, {});
  assert.equal(version, "v1.0.0");
  assert.match(dataSignature, /^30[0-9a-f]+$/);
  assert.match(enclaveQuorumPublic, /^04[0-9a-f]{128}$/);
  return JSON.parse(Buffer.from(data, "hex").toString());
}

export const signerKeyOf = (bundle: string): string => JSON.parse(bundle).enclaveQuorumPublic;

type Start = "init_import_wallet" | "init_import_private_key";

export function startImport(fixture: Fixture, path: Start): Promise<{ importBundle: string }> {
  return fixture.done(path, { userId: fixture.place.root.userId }) as Promise<{ importBundle: string }>;
}
