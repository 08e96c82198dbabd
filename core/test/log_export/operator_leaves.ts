/** Acts of the operator in tests: the first birth, opened logs, starts of the signer, accepted databases. */
import { randomBytes } from "node:crypto";
import { encodeOpenedLog, type OpenedLog } from "../../src/log/outside_values.ts";
import { sha256 } from "../webauthn/authenticator.ts";
import { json, type MadeLeaf, made, newLeaf, nextHeader, type Scene, type TestOrganization } from "./histories.ts";
import { bytesOf } from "./stampers.ts";

const openedValue = (opened: OpenedLog) =>
  ({ kind: "openedLog", value: { kind: "bytes", value: encodeOpenedLog(opened) } }) as const;

/** The first organization, whose birth opens the first log. */
export function firstBirth(scene: Scene, first: TestOrganization, opened: OpenedLog): MadeLeaf {
  const apiPublicKey = `02${"ab".repeat(32)}`;
  const order = json({ organizationName: "First", apiPublicKey });
  const leaf = newLeaf(scene, first, {
    ...{ event: "BIRTH", grounds: "OPERATOR" },
    fingerprint: sha256(order),
    header: nextHeader(scene, first),
    outside: [openedValue(opened)],
    outcome: sha256(Buffer.from(apiPublicKey, "hex")),
  });
  return made(first, leaf, [order]);
}

export function logOpened(scene: Scene, first: TestOrganization, opened: OpenedLog): MadeLeaf {
  const states = first.state === undefined ? [] : [first.state];
  const fields = { event: "LOG_OPENED", grounds: "OPERATOR", states, outside: [openedValue(opened)] } as const;
  return made(first, newLeaf(scene, first, { ...fields, header: nextHeader(scene, first) }), [], true);
}

/** A new start of the signer. */
export function booted(scene: Scene, first: TestOrganization): MadeLeaf {
  scene.boot = new Uint8Array(randomBytes(16));
  scene.number = 0;
  const [order, proof] = [json({ rulesVersion: 1, limits: {} }), bytesOf(scene.random, 200)];
  const fields = { event: "BOOTED", grounds: "OPERATOR", fingerprint: sha256(order), outcome: sha256(proof) } as const;
  return made(first, newLeaf(scene, first, fields), [order, proof], true);
}

export function databaseAccepted(scene: Scene, first: TestOrganization): MadeLeaf {
  const states = first.state === undefined ? [] : [first.state];
  const fields = { event: "DATABASE_ACCEPTED", grounds: "OPERATOR", states } as const;
  return made(first, newLeaf(scene, first, { ...fields, outcome: bytesOf(scene.random, 32) }), [], true);
}
