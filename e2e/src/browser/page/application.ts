/** What the application's pages share. These files run in the browser. */
import type { Transport } from "@keystead/core/webauthn/transports.ts";

export type Settings = {
  baseUrl: string;
  parentId: string;
  authProxyUrl: string;
  authProxyConfigId: string;
  /** The deployment's own key that target bundles are signed with. */
  otpKey: string;
};
export type SignedUp = { organizationId: string };
export type NewAuthenticator = {
  authenticatorName: string;
  challenge: string;
  attestation: {
    credentialId: string;
    clientDataJson: string;
    attestationObject: string;
    transports: Transport[];
  };
};

/** Passkeys are made for the host of the page. */
export const rpId = "localhost";

/** Pages know where Keystead is and the parent's id, and not in which organization their user is. */
export const { baseUrl, parentId, authProxyUrl, authProxyConfigId, otpKey }: Settings = await (
  await fetch("/settings")
).json();

/** The application's server makes a sub-organization whose only user has this passkey. */
export async function signUp(authenticator: NewAuthenticator): Promise<SignedUp> {
  const answer = await fetch("/sign-up", { method: "POST", body: JSON.stringify(authenticator) });
  if (!answer.ok) throw new Error(`sign-up was refused: ${await answer.text()}`);
  return answer.json();
}
