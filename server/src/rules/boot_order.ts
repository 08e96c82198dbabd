/** What a start of the signer was ordered, as far as decisions read it. It is disclosed with the leaf `BOOTED`, which names its digest. */
import type { Limits } from "../endpoints/limits.ts";
import { rulesVersion } from "./rules_version.ts";

export type BootOrder = {
  rulesVersion: number;
  limits: Limits;
  /** Organizations without a pin are taken as found. */
  adoptUnknown: boolean;
  hasSandboxCodes: boolean;
  allowsPlainAnswers: boolean;
  hasCaptcha: boolean;
  linkingIssuers: readonly string[];
  ownIssuer?: string;
};

export type BootChoices = Omit<BootOrder, "rulesVersion" | "linkingIssuers" | "ownIssuer"> & {
  linkingIssuers: ReadonlySet<string>;
  ownIssuer: string | undefined;
};

/** The same choices have the same bytes. */
export function encodeBootOrder(choices: BootChoices): Uint8Array<ArrayBuffer> {
  const { limits, adoptUnknown, hasSandboxCodes, allowsPlainAnswers, hasCaptcha, ownIssuer } = choices;
  const order: BootOrder = {
    rulesVersion,
    limits: Object.fromEntries(Object.entries(limits).sort(([a], [b]) => (a < b ? -1 : 1))) as Limits,
    adoptUnknown,
    hasSandboxCodes,
    allowsPlainAnswers,
    hasCaptcha,
    linkingIssuers: [...choices.linkingIssuers].sort(),
    ...(ownIssuer !== undefined && { ownIssuer }),
  };
  return new TextEncoder().encode(JSON.stringify(order));
}

export function decodeBootOrder(bytes: Uint8Array): BootOrder {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as BootOrder;
}
