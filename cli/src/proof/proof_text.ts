/** What an app proof says, for people. */
import { printable } from "../printable.ts";

type Payload = {
  type?: unknown;
  addressDerivationProof?: Record<string, unknown>;
  policyOutcomeProof?: Record<string, unknown>;
};

export function proofText(proofPayload: string): string {
  const { type, addressDerivationProof: derived, policyOutcomeProof: decided } = read(proofPayload);
  if (typeof derived === "object") {
    const { address, derivationPath, walletId, organizationId } = derived;
    return printable(`${address} is at ${derivationPath} of wallet ${walletId} of organization ${organizationId}`);
  }
  if (typeof decided === "object") {
    return printable(`${decided.outcome} for a request in organization ${decided.organizationId}`);
  }
  return printable(`it is of type ${type}`);
}

function read(text: string): Payload {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
