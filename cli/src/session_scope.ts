/** Refusals by the scope of a session profile. Policies are not asked about what a session may not do at all. */
import type { Activity } from "@keystead/sdk";
import { printable } from "./printable.ts";
import type { Session } from "./profile.ts";

/** As `details` of a refusal has it. */
export type SessionScope = { sessionProfileId: string; outcome: string };

/** Why the session may not do it, in the words of its profile. */
export async function scopeRefusalLines(
  client: Session["client"],
  { sessionProfileId, outcome }: SessionScope,
): Promise<string[]> {
  const { name, scope } = await findProfile(client, sessionProfileId);
  const verb = outcome === "OUTCOME_ERROR" ? "cannot be evaluated for this, and allows nothing" : "is not met";
  return [
    `refused: outside the scope of session profile ${name}; no policy was asked`,
    ...(scope === undefined ? [] : [`  scope ${verb}: ${printable(scope)}`]),
    "  sign in with another session profile or with none, or use a lasting credential",
  ];
}

/** The profile that bounds the credential of a vote; undefined where none does, or where the credential is gone. */
export async function profileLineOf(
  client: Session["client"],
  vote: Activity["votes"][number] | undefined,
): Promise<string | undefined> {
  const own = vote?.user.apiKeys.find(({ credential }) => credential.publicKey === vote.publicKey);
  const sessionProfileId = own?.credential.sessionProfileId;
  if (sessionProfileId === undefined) return undefined;
  const { name, scope } = await findProfile(client, sessionProfileId);
  const within = scope === undefined ? "" : `, which allows only: ${printable(scope)}`;
  return `the session is bound by session profile ${name}${within}`;
}

/** Names are for comfort: whoever may not read the profile reads its id. */
async function findProfile(
  client: Session["client"],
  sessionProfileId: string,
): Promise<{ name: string; scope?: string }> {
  try {
    const { sessionProfile } = await client.getSessionProfile({ sessionProfileId });
    return { name: `"${printable(sessionProfile.sessionProfileName)}"`, scope: sessionProfile.scope };
  } catch {
    return { name: printable(sessionProfileId) };
  }
}
