import type { IssuerReply, IssuerRequest } from "../../frames/courier_messages.ts";
import { IssuerFailure } from "./issuer_failure.ts";
import type { Issuers } from "./issuers.ts";

/** What the gateway is told. */
export async function answerIssuer(issuers: Issuers, request: IssuerRequest): Promise<IssuerReply> {
  try {
    return { kind: "statement", value: { statement: await issuers.statementOf(request) } };
  } catch (error) {
    if (!(error instanceof IssuerFailure)) throw error;
    return { kind: "failed", value: { error: error.error, reason: error.message } };
  }
}
