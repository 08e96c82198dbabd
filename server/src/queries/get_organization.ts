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
import { mapWithBreaths } from "../store/breaths.ts";
import { listInterfaceReferences } from "../store/contract_interfaces.ts";
import { countListed } from "../store/organization_size.ts";
import { listPolicies } from "../store/policies.ts";
import { listPrivateKeys, listPrivateKeyTags } from "../store/private_keys.ts";
import { inLongSnapshot } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import { listUsers, listUserTags } from "../store/users.ts";
import { listWallets } from "../store/wallets.ts";
import { readOrganizationPage } from "../views/organization_page.ts";
import { policyView } from "../views/policy_view.ts";
import { privateKeyTagView, privateKeyView } from "../views/private_key_view.ts";
import { userTagView } from "../views/tag_view.ts";
import { userView } from "../views/user_view.ts";
import { walletView } from "../views/wallet_view.ts";

/** One answer for everything is made in memory, and in one snapshot: both are bounded. */
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
  async run(store, _caller, { organizationId }) {
    // Only what is read is of one moment: the views are made when the next one may read.
    const all = await inLongSnapshot(store, (snapshot) => readAll(snapshot, organizationId));
    const { threshold, userIds } = all.members.rootQuorum;
    const tags = [...all.userTags.map(userTagView), ...all.privateKeyTags.map(privateKeyTagView)];
    return {
      organizationData: {
        organizationId,
        name: all.settings.organizationName,
        users: await mapWithBreaths(all.users, userView),
        policies: await mapWithBreaths(all.policies, policyView),
        privateKeys: await mapWithBreaths(all.privateKeys, privateKeyView),
        invitations: [],
        tags,
        rootQuorum: { threshold, userIds: [...userIds] },
        features: all.settings.features as FeatureValue[],
        wallets: await mapWithBreaths(all.wallets, walletView),
        smartContractInterfaceReferences: all.references.map(({ interfaceId, address }) => ({
          smartContractInterfaceId: interfaceId,
          smartContractAddress: address,
        })),
      },
    };
  },
});

async function readAll(store: Store, organizationId: string) {
  const count = await countListed(store, organizationId);
  if (count > maxListed) throw tooLarge(count);
  return {
    settings: await readOrganizationPage(store, organizationId, "settings"),
    members: await readOrganizationPage(store, organizationId, "members"),
    userTags: await listUserTags(store, organizationId),
    privateKeyTags: await listPrivateKeyTags(store, organizationId),
    references: await listInterfaceReferences(store, organizationId),
    users: await listUsers(store, organizationId),
    policies: await listPolicies(store, organizationId),
    privateKeys: await listPrivateKeys(store, organizationId),
    wallets: await listWallets(store, organizationId),
  };
}

function tooLarge(count: number): Fault {
  const kinds = ["users", "policies", "private_keys", "wallets", "user_tags", "private_key_tags"];
  const lists = [...kinds, "smart_contract_interfaces"].map((kind) => `list_${kind}`).join(", ");
  return new Fault(
    "resource_exhausted",
    `organization has ${count} users, credentials, policies, keys, wallets, tags and interfaces, more than the ${maxListed} that one answer may have: use ${lists} and get_organization_configs`,
  );
}
