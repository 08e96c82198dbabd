/**
 * Per organization, the newest state this signer has released: version and half a digest, 24 bytes, in one table of typed memory. A million
 * organizations are 57 MB here.
 */
import { createIdTable } from "./id_table.ts";

/** The first half of a SHA-256 digest: 128 bits against a second preimage, which is what an attacker would need. */
export const pinDigestLength = 16;

export type Pin = { version: number; digest: Uint8Array };

export type Pins = {
  readonly size: number;
  get(organizationId: Uint8Array): Pin | undefined;
  set(organizationId: Uint8Array, pin: Pin): void;
  entries(): Generator<{ organizationId: Uint8Array; pin: Pin }>;
};

export function createPins(): Pins {
  const table = createIdTable(pinDigestLength);
  return {
    get size() {
      return table.size;
    },
    get(organizationId) {
      const version = table.numberOf(organizationId);
      return version === 0 ? undefined : { version, digest: table.restOf(organizationId) };
    },
    set: (organizationId, { version, digest }) =>
      table.set(organizationId, version, digest.subarray(0, pinDigestLength)),
    *entries() {
      for (const { id, number, rest } of table.entries()) {
        yield { organizationId: id, pin: { version: number, digest: rest } };
      }
    },
  };
}
