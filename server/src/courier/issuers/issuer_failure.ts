import type { IssuerError } from "../../frames/courier_messages.ts";

/** There is no statement about an issuer. `message` names it and says why; it is for whoever sent the token. */
export class IssuerFailure extends Error {
  override readonly name = "IssuerFailure";
  readonly error: IssuerError;

  constructor(error: IssuerError, message: string) {
    super(message);
    this.error = error;
  }
}

export function unusable(issuer: string, why: string): IssuerFailure {
  return new IssuerFailure("unusable", `issuer \`${issuer}\` cannot be used: ${why}`);
}
