import type { IssuerReply, IssuerRequest } from "../../frames/courier_messages.ts";
import { IssuerFailure } from "./issuer_failure.ts";
import type { Issuers } from "./issuers.ts";

/** What the gateway is told. */
export async function answerIssuer(issuers: Issuers, request: IssuerRequest): Promise<IssuerReply> {
  let wasNew = false;
  const onNew = () => {
    wasNew = true;
  };
  try {
    const statement = await issuers.statementOf(request, onNew);
    return { kind: "statement", value: { statement, wasNew } };
  } catch (error) {
    if (!(error instanceof IssuerFailure)) throw error;
    return { kind: "failed", value: { error: error.error, reason: error.message, wasNew } };
  }
}
