import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { paginationOptions, parsePagination, unknownCursor } from "../fields/pagination.ts";
import { Type } from "../fields/schema.ts";
import { parsePhoneNumber, parseSearchedEmail } from "../rules/contacts.ts";
import {
  findUnknownCursor,
  listSubOrganizationIds,
  listVerifiedSubOrganizationIds,
  type SubOrganizationFilter,
} from "../store/sub_organizations.ts";

/** One row per `filterType`: the value as it is stored. */
const filters: Readonly<Record<string, (value: string) => SubOrganizationFilter>> = {
  EMAIL: (value) => ({ by: "verifiedEmail", value: parseSearchedEmail(value) ?? value }),
  PHONE_NUMBER: (value) => ({ by: "verifiedPhoneNumber", value: parsePhoneNumber(value) ?? value }),
};

const filterTypes = Object.keys(filters).join(", ");

/** Lists the sub-organizations with a user whose contact is verified, all or those of one contact, sorted by id. */
export const listVerifiedSuborgs = defineQuery({
  path: "list_verified_suborgs",
  summary: "List the ids of sub-organizations whose users have verified contacts, all or those with one contact",
  request: Type.Object({
    organizationId,
    filterType: optional(Type.String({ maxLength: 64, description: `What to compare: ${filterTypes}.` })),
    filterValue: optional(Type.String({ maxLength: 10_000, description: "What it must be." })),
    paginationOptions,
  }),
  response: Type.Object({ organizationIds: Type.Array(Type.String()) }),
  async run(store, _caller, { organizationId, filterType, filterValue, paginationOptions }) {
    const page = parsePagination(paginationOptions);
    const filter = parseFilter(filterType, filterValue);
    const unknown = await findUnknownCursor(store, organizationId, page);
    if (unknown !== undefined) throw unknownCursor(unknown);
    const organizationIds =
      filter === undefined
        ? await listVerifiedSubOrganizationIds(store, organizationId, page)
        : await listSubOrganizationIds(store, organizationId, filter, page);
    return { organizationIds };
  },
});

/** Clients that leave a filter open send nothing, null or empty text. */
function parseFilter(filterType: string | null | undefined, filterValue: string | null | undefined) {
  if (!filterType && !filterValue) return undefined;
  if (!filterType) throw new Fault("invalid_argument", "invalid request body: missing field `filterType`");
  if (!Object.hasOwn(filters, filterType)) {
    throw new Fault("invalid_argument", `invalid filter type: \`${filterType}\` is none of ${filterTypes}`);
  }
  if (!filterValue) throw new Fault("invalid_argument", "invalid request body: missing field `filterValue`");
  return filters[filterType]?.(filterValue);
}
