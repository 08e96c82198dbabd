import { Fault } from "@keystead/core/fault.ts";
import { generatePrivateKey } from "@keystead/core/keys/key_curves.ts";
import { mapWithPauses, type Work } from "@keystead/core/work.ts";
import { costOfAccounts, costOfPrivateKeys, costOfToken, costOfUsers, unitCosts } from "../endpoints/cost.ts";
import { type ActivityContext, defineActivity } from "../endpoints/define_activity.ts";
import type { NewRecord } from "../endpoints/key_access.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { ids, organizationId } from "../fields/ids.ts";
import { foldName } from "../fields/names.ts";
import {
  type CreateSubOrganizationParams,
  createSubOrganizationParams,
  olderPartsOf,
  type RootUserParams,
} from "../fields/new_sub_organization.ts";
import type { PrivateKeyParams } from "../fields/private_keys.ts";
import { Type } from "../fields/schema.ts";
import { walletResult } from "../fields/wallets.ts";
import { refuseKnownCredentials } from "../rules/credentials.ts";
import { subOrganizationFeatures } from "../rules/features.ts";
import { takenName } from "../rules/keys.ts";
import { wipedUnlessDone } from "../rules/made_records.ts";
import { getPrivateKeyTag } from "../rules/private_key_tags.ts";
import { checkAddressFormats, newPrivateKeyRecord } from "../rules/private_keys.ts";
import { checkQuorum } from "../rules/quorum.ts";
import { refuseUnboundIdentities, refuseUncovered, signingKeyOf, verifiedContactOf } from "../rules/sign_up.ts";
import { newUser, refuseKeysByText } from "../rules/users.ts";
import { generateWallet, parseAccounts } from "../rules/wallets.ts";
import { type VerifiedContact, withVerifiedContact } from "../state/contacts.ts";
import { keptCredentialsOf, withProven } from "../state/credentials.ts";
import { put, type Settings, type User, type UserTag } from "../state/entities.ts";
import { emptyPages } from "../state/pages.ts";
import { createSubOrganizationVersions } from "./create_sub_organization.v7.ts";

/** Creates a sub-organization with its root users and, if asked for, keys of its own. The parent can read it afterwards, and start logins, and no more. */
export const createSubOrganization = defineActivity({
  path: "create_sub_organization",
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8",
  intentKey: "createSubOrganizationIntentV8",
  resultKey: "createSubOrganizationResultV8",
  summary: "Create a sub-organization with its root users",
  params: createSubOrganizationParams,
  result: Type.Object({
    subOrganizationId: organizationId,
    wallet: Type.Optional(walletResult),
    rootUserIds: Type.Optional(ids),
  }),
  versions: createSubOrganizationVersions,
  bearerParams: {
    verificationToken: "verificationToken",
    "rootUsers[].oauthProviders[].oidcToken": "identityToken",
  },
  cost: (params: CreateSubOrganizationParams) =>
    costOfUsers(params.rootUsers) +
    costOfPrivateKeys(olderPartsOf(params).privateKeys) +
    costOfToken(params) +
    (params.wallet ? unitCosts.seed + costOfAccounts(params.wallet.accounts) : 0),
  state: () => undefined,
  *run(_state, params: CreateSubOrganizationParams, context) {
    if (context.parentId !== undefined) {
      throw new Fault(
        "permission_denied",
        "create_sub_organization cannot be called by sub-organizations: name the parent in organizationId",
        {
          errorCode: "INVALID_ACTIVITY_CALLER",
        },
      );
    }
    const verified = verifiedContactOf(params, context);
    if (context.isByAuthProxy === true) {
      refuseUncovered(params, verified);
      refuseUnboundIdentities(params, verified, context);
    }
    const limited = { limits: context.limits, parentId: context.organizationId };
    checkLimit("users", params.rootUsers.length, limited);
    if (params.wallet) checkLimit("wallets", 1, limited);
    const wanted = olderPartsOf(params).privateKeys ?? [];
    checkLimit("privateKeys", wanted.length, limited);
    const asked = params.rootUsers.map(({ apiKeys, authenticators, oauthProviders }) => ({
      apiKeys: apiKeys ?? [],
      authenticators,
      oauthProviders,
    }));
    refuseKeysByText(emptyPages.members, asked, context);
    const accounts = parseAccounts(params.wallet?.accounts ?? []);
    const subOrganizationId = context.newId();
    checkPrivateKeys(wanted, subOrganizationId);
    const settings = firstSettings(params, context);
    const userTags = newUserTags(context, params.rootUsers);
    checkLimit("userTags", userTags.size, limited);
    const users = yield* mapWithPauses(params.rootUsers, (rootUser) =>
      newRootUser(context, rootUser, { verified, userTags, signingKey: signingKeyOf(params, context) }),
    );
    refuseKnownCredentials(emptyPages.members, users.flatMap(keptCredentialsOf));
    const rootUserIds = users.map((user) => user.userId);
    const rootQuorum = { threshold: params.rootQuorumThreshold, userIds: rootUserIds };
    checkQuorum(rootQuorum, new Map(users.map((user) => [user.userId, user])), settings);
    const { made, privateKeys } = yield* wipedUnlessDone(function* (records) {
      const { wallet } = params;
      const made = wallet ? yield* generateWallet(context, subOrganizationId, wallet, accounts) : undefined;
      records.push(...(made?.records ?? []));
      const privateKeys = yield* generatePrivateKeys(context, subOrganizationId, wanted, records);
      return { made, privateKeys };
    });
    const records = [...(made?.records ?? []), ...privateKeys];
    const changes = [
      put("settings", settings),
      ...userTags.values().map((tag) => put("userTag", tag)),
      ...users.map((user) => put("user", user)),
      put("rootQuorum", rootQuorum),
      ...(records.length > 0 ? [put("keyCounts", { wallets: made ? 1 : 0, privateKeys: privateKeys.length })] : []),
    ];
    const birth = { organizationId: subOrganizationId, organizationName: settings.organizationName, changes };
    return {
      changes: [],
      births: [{ ...birth, ...(records.length > 0 && { records }) }],
      result: {
        subOrganizationId,
        ...(made && { wallet: { walletId: made.walletId, addresses: made.addresses } }),
        // The newest form cannot ask for them, so its result does not declare them.
        ...(privateKeys.length > 0 && { privateKeys: privateKeys.map(toResult) }),
        rootUserIds,
      },
    };
  },
});

/** Whatever can be refused is refused before the first secret exists. The parent's keys do not matter: names are an organization's own. */
function checkPrivateKeys(wanted: readonly PrivateKeyParams[], organizationId: string): void {
  const names = new Set<string>();
  for (const { privateKeyName, privateKeyTags, ...draft } of wanted) {
    const folded = foldName(privateKeyName);
    if (names.has(folded)) throw takenName("privateKey", privateKeyName);
    names.add(folded);
    for (const tagId of privateKeyTags ?? []) getPrivateKeyTag(emptyPages.privateKeyTags, organizationId, tagId);
    checkAddressFormats(draft);
  }
}

function generatePrivateKeys(
  context: ActivityContext,
  organizationId: string,
  wanted: readonly PrivateKeyParams[],
  made: NewRecord[],
): Work<ReturnType<typeof newPrivateKeyRecord>[]> {
  return mapWithPauses(wanted, ({ privateKeyName, curve, addressFormats }) => {
    const draft = { organizationId, privateKeyName, curve, addressFormats, imported: false };
    const key = newPrivateKeyRecord(context, draft, generatePrivateKey(curve, context.keys.random));
    made.push(key);
    return key;
  });
}

function toResult({ record: { privateKeyId, addresses } }: ReturnType<typeof newPrivateKeyRecord>) {
  return { privateKeyId, addresses: [...addresses] };
}

function firstSettings(params: CreateSubOrganizationParams, { nowMs }: ActivityContext): Settings {
  const features = subOrganizationFeatures.filter(({ disabledBy }) => params[disabledBy] !== true);
  return {
    organizationName: params.subOrganizationName,
    features: features.map(({ name }) => ({ name })),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Tags that root users ask for by name, by their folded names: two who name the same one share it. */
function newUserTags(context: ActivityContext, rootUsers: readonly RootUserParams[]): ReadonlyMap<string, UserTag> {
  const { nowMs } = context;
  const tags = new Map<string, UserTag>();
  for (const { userTag } of rootUsers) {
    if (!userTag || tags.has(foldName(userTag))) continue;
    tags.set(foldName(userTag), { tagId: context.newId(), tagName: userTag, createdAtMs: nowMs, updatedAtMs: nowMs });
  }
  return tags;
}

/** What root users get besides what they bring. */
type SignedUp = {
  verified: VerifiedContact | undefined;
  userTags: ReadonlyMap<string, UserTag>;
  /** The key that signed the sign-up, where one did. */
  signingKey: string | undefined;
};

function onlyKeyOf([key, ...others]: readonly { publicKey: string }[]): string[] {
  return key === undefined || others.length > 0 ? [] : [key.publicKey];
}

function newRootUser(
  context: ActivityContext,
  params: RootUserParams,
  { verified, userTags, signingKey }: SignedUp,
): User {
  const tag = userTags.get(foldName(params.userTag ?? ""));
  const user = newUser(context, {
    ...params,
    apiKeys: params.apiKeys ?? [],
    authenticators: params.authenticators ?? [],
    oauthProviders: params.oauthProviders ?? [],
    userTags: tag === undefined ? [] : [tag.tagId],
    // A thief can bring the victim's key, which the token names, beside a key or passkey of their own: then the nonce shows nothing.
    bornWithKeys: (params.authenticators ?? []).length > 0 ? [] : onlyKeyOf(params.apiKeys ?? []),
  });
  // The parent's stamp speaks for them. Through the auth proxy nobody does: a public key may be anyone's, but for the one that signed. A
  // passkey's id is new: nobody else knows it before it is registered.
  const proven = withProven(
    user,
    ({ kind, publicKey }) => context.isByAuthProxy !== true || kind === "authenticator" || publicKey === signingKey,
  );
  return verified === undefined ? proven : withVerifiedContact(proven, verified);
}
