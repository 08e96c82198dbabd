/** CPU time of code logins, beside the cryptography that a login cannot do without. Linux only: it looks into /proc. */
import { createECDH, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { measureUs } from "../../../bench/src/baselines.ts";
import { cpuMs } from "../../../bench/src/processes.ts";

const roles = ["gateway", "signer", "courier"] as const;

export type ServerCpu = Record<(typeof roles)[number], number>;

/** CPU milliseconds of all servers so far, by what the process is. A courier that was not needed yet has used none. */
export async function serverCpu(servers: readonly KeysteadServer[]): Promise<ServerCpu> {
  const used: ServerCpu = { gateway: 0, signer: 0, courier: 0 };
  for (const server of servers) {
    const children = await server.children();
    for (const role of roles) {
      const pid = children[role];
      if (pid !== undefined) used[role] += cpuMs(pid);
    }
  }
  return used;
}

/**
 * What a login computes at least, all on P-256. It verifies three stamps, the token and the user's signature; it signs the target bundle,
 * the token and the session; and for the answer it makes a key pair and one shared secret.
 */
const needed = { verifications: 5, signatures: 3, keyPairs: 1, sharedSecrets: 1 } as const;

/** In microseconds, measured in this process. */
export function bareLoginUs(seconds = 0.3): number {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const message = randomBytes(300);
  const signature = sign("sha256", message, privateKey);
  const [own, other] = [createECDH("prime256v1"), createECDH("prime256v1")];
  own.generateKeys();
  const point = other.generateKeys();
  const verificationUs = measureUs(seconds, () => {
    if (!verify("sha256", message, publicKey, signature)) throw new Error("a good signature was refused");
  });
  const signatureUs = measureUs(seconds, () => sign("sha256", message, privateKey));
  const keyPairUs = measureUs(seconds, () => own.generateKeys());
  const sharedSecretUs = measureUs(seconds, () => own.computeSecret(point));
  const { verifications, signatures, keyPairs, sharedSecrets } = needed;
  return (
    verifications * verificationUs + signatures * signatureUs + keyPairs * keyPairUs + sharedSecrets * sharedSecretUs
  );
}

export function costText(before: ServerCpu, after: ServerCpu, logins: number): string {
  const perLoginUs = (role: keyof ServerCpu) => ((after[role] - before[role]) * 1000) / logins;
  const bareUs = bareLoginUs();
  const ratio = (perLoginUs("gateway") + perLoginUs("signer")) / bareUs;
  return (
    `CPU per login: ${roles.map((role) => `${role} ${perLoginUs(role).toFixed(0)} µs`).join(", ")}; bare cryptography of a login ` +
    `${bareUs.toFixed(0)} µs; gateway and signer are ${ratio.toFixed(1)} times that`
  );
}
