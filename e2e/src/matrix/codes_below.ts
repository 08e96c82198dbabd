/** What users of a sub-organization need before they may have codes sent, and what of a message they may not choose. */
import type { Fixture } from "./fixture.ts";

export const codesBelow = "FEATURE_NAME_SUB_ORGANIZATION_CODES";

export async function letSubOrganizationsSendCodes({ done, parent }: Fixture): Promise<void> {
  await done("set_organization_feature", { name: codesBelow }, parent.root, parent);
}

/** What a message looks like, as far as the users of the fixture's place may say. */
export async function lookFor<L extends object>(fixture: Fixture, look: L): Promise<Partial<L>> {
  if (fixture.place.parentId === undefined) return look;
  await letSubOrganizationsSendCodes(fixture);
  return {};
}
