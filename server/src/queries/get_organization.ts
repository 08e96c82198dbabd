import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { type FeatureValue, features } from "../fields/features.ts";
import { organizationId } from "../fields/ids.ts";
import { policy } from "../fields/policies.ts";
import { privateKey } from "../fields/private_keys.ts";
import { quorum } from "../fields/quorum.ts";
import { Type } from "../fields/schema.ts";
import { tag } from "../fields/tag.ts";
import { user } from "../fields/user.ts";
import { wallet } from "../fields/wallets.ts";
import { listInterfaceReferences } from "../store/contract_interfaces.ts";
import { countListed } from "../store/organization_size.ts";
import { listPolicies } from "../store/policies.ts";
import { listPrivateKeys, listPrivateKeyTags } from "../store/private_keys.ts";
import { listUsers, listUserTags } from "../store/users.ts";
import { listWallets } from "../store/wallets.ts";
import { readOrganizationPage } from "../views/organization_page.ts";
import { policyView } from "../views/policy_view.ts";
import { privateKeyTagView, privateKeyView } from "../views/private_key_view.ts";
import { userTagView } from "../views/tag_view.ts";
import { userView } from "../views/user_view.ts";
import { walletView } from "../views/wallet_view.ts";

/**
 * As many as the longest single list may have by default: one answer for everything must not hold up others for longer than
 * one of those does.
 */
export const maxListed = 10_000;

const text = (description: string) => Type.String({ description });

const interfaceReference = Type.Object({
  smartContractInterfaceId: text("Unique identifier of the interface."),
  smartContractAddress: text("Address of the contract, or id of the program."),
});

/** Gets everything that an organization has, as older clients ask for it. Wallet accounts and activities have lists of their own. */
export const getOrganization = defineQuery({
  path: "get_organization",
  summary: "Get an organization with its users, policies, keys, wallets and tags",
  request: Type.Object({ organizationId }),
  response: Type.Object({
    organizationData: Type.Object({
      organizationId,
      name: text("Human-readable name of the organization."),
      users: Type.Array(user),
      policies: Type.Array(policy),
      privateKeys: Type.Array(privateKey),
      invitations: Type.Array(Type.Unknown(), { description: "Always empty: there are no invitations." }),
      tags: Type.Array(tag, { description: "Of users and of private keys." }),
      rootQuorum: quorum,
      features,
      wallets: Type.Array(wallet),
      smartContractInterfaceReferences: Type.Array(interfaceReference),
    }),
  }),
  inSnapshot: true,
  async run(store, _caller, { organizationId }) {
    const count = await countListed(store, organizationId);
    if (count > maxListed) throw tooLarge(count);
    const settings = await readOrganizationPage(store, organizationId, "settings");
    const { threshold, userIds } = (await readOrganizationPage(store, organizationId, "members")).rootQuorum;
    const userTags = (await listUserTags(store, organizationId)).map(userTagView);
    const privateKeyTags = (await listPrivateKeyTags(store, organizationId)).map(privateKeyTagView);
    const references = await listInterfaceReferences(store, organizationId);
    return {
      organizationData: {
        organizationId,
        name: settings.organizationName,
        users: (await listUsers(store, organizationId)).map(userView),
        policies: (await listPolicies(store, organizationId)).map(policyView),
        privateKeys: (await listPrivateKeys(store, organizationId)).map(privateKeyView),
        invitations: [],
        tags: [...userTags, ...privateKeyTags],
        rootQuorum: { threshold, userIds: [...userIds] },
        features: settings.features as FeatureValue[],
        wallets: (await listWallets(store, organizationId)).map(walletView),
        smartContractInterfaceReferences: references.map(({ interfaceId, address }) => ({
          smartContractInterfaceId: interfaceId,
          smartContractAddress: address,
        })),
      },
    };
  },
});

function tooLarge(count: number): Fault {
  const lists = ["list_users", "list_policies", "list_private_keys", "list_wallets", "list_user_tags"].join(", ");
  return new Fault(
    "resource_exhausted",
    `organization has ${count} users, credentials, policies, keys, wallets, tags and interfaces, more than the ${maxListed} that one answer may have: use ${lists} and get_organization_configs`,
  );
}
