import { Fault } from "@keystead/core/fault.ts";
import { addressKey } from "@keystead/core/keys/address_spelling.ts";
import type { Identity } from "@keystead/core/oidc/identity_claims.ts";
import { defineQuery, type QueryAccess } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { paginationOptions, parsePagination, unknownCursor } from "../fields/pagination.ts";
import { parseSearchedKey } from "../fields/public_key.ts";
import { Type } from "../fields/schema.ts";
import { parsePhoneNumber, parseSearchedEmail } from "../rules/contacts.ts";
import { identityLookup } from "../state/credentials.ts";
import { findUnknownCursor, listSubOrganizationIds, type SubOrganizationFilter } from "../store/sub_organizations.ts";

/** One row per `filterType`: what it looks at, and the value as that stores it. */
const filters: Readonly<Record<string, (value: string, access?: QueryAccess) => SubOrganizationFilter>> = {
  CREDENTIAL_ID: (value) => (isId(value) ? { by: "credentialId", value } : { by: "passkeyId", value: spell(value) }),
  NAME: (value) => ({ by: "organizationName", value }),
  USERNAME: (value) => ({ by: "userName", value }),
  EMAIL: (value) => ({ by: "userEmail", value: parseSearchedEmail(value) ?? value }),
  PHONE_NUMBER: (value) => ({ by: "userPhoneNumber", value: parsePhoneNumber(value) ?? value }),
  PUBLIC_KEY: (value) => ({ by: "publicKey", value: parseSearchedKey(value) }),
  OIDC_TOKEN: (_, access) => ({ by: "identity", value: identityLookup(verifiedIn(access)).publicKey }),
  WALLET_ACCOUNT_ADDRESS: (value) => ({ by: "walletAccountAddress", value: addressKey(value) }),
};

/** Clients know a passkey by the authenticator's own id of it, and other credentials by ours. */
function isId(value: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

function spell(credentialId: string): string {
  return credentialId.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** It is the issuer's word whom a token speaks for: applications take the answer for the token's owner. */
function verifiedIn(access: QueryAccess | undefined): Identity {
  if (access?.identity === undefined) throw new Fault("unavailable", "issuers cannot be asked now; try again");
  return access.identity;
}

const filterTypes = Object.keys(filters).join(", ");

/** Lists the sub-organizations that match a filter, or all, sorted by id: `after` the last id of a page is the next page. */
export const listSuborgs = defineQuery({
  path: "list_suborgs",
  summary: "List the ids of sub-organizations, all or those that match a filter",
  request: Type.Object({
    organizationId,
    filterType: optional(Type.String({ maxLength: 64, description: `What to compare: ${filterTypes}.` })),
    filterValue: optional(Type.String({ maxLength: 50_000, description: "What it must be." })),
    paginationOptions,
  }),
  response: Type.Object({ organizationIds: Type.Array(Type.String()) }),
  identityToken: ({ filterType, filterValue }) =>
    filterType === "OIDC_TOKEN" ? (filterValue ?? undefined) : undefined,
  async run(store, _caller, { organizationId, filterType, filterValue, paginationOptions }, _dialect, access) {
    const page = parsePagination(paginationOptions);
    const filter = parseFilter(filterType, filterValue, access);
    const unknown = await findUnknownCursor(store, organizationId, page);
    if (unknown !== undefined) throw unknownCursor(unknown);
    return { organizationIds: await listSubOrganizationIds(store, organizationId, filter, page) };
  },
});

/** Clients that leave a filter open send nothing, null or empty text. */
function parseFilter(
  filterType: string | null | undefined,
  filterValue: string | null | undefined,
  access: QueryAccess | undefined,
) {
  if (!filterType && !filterValue) return undefined;
  if (!filterType) throw new Fault("invalid_argument", "invalid request body: missing field `filterType`");
  if (!Object.hasOwn(filters, filterType)) {
    throw new Fault("invalid_argument", `invalid filter type: \`${filterType}\` is none of ${filterTypes}`);
  }
  if (!filterValue) throw new Fault("invalid_argument", "invalid request body: missing field `filterValue`");
  return filters[filterType]?.(filterValue, access);
}
