/** The organizations that have requests under way, or a run that the next request may follow. */
import { createLru } from "../../state/lru.ts";
import type { Store } from "../../store/store.ts";
import { type Admission, createAdmission } from "../bounds/admission.ts";
import { admissionLimits } from "../bounds/memory_bounds.ts";
import { type CourierOrders, noOrders } from "../link/courier_orders.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { Organization, type OrganizationContext } from "./organization.ts";
import { Preparation, type PrepareRequest } from "./preparation.ts";
import { type IssuerSource, noIssuers } from "./wishes.ts";

export type Organizations = {
  /** A turn of a request with the signer. Whoever begins one closes it. */
  begin(organizationId: string, request: PrepareRequest): Preparation;
  /** Whether so many wait for an organization that a stranger should not join them. */
  isCrowded(organizationId: string): boolean;
  /** Everything is offered anew: the signer is another one. */
  forgetAll(): void;
};

const maxOrganizations = 5_000;
/** Each is two ids and a number. */
const maxExpected = 50_000;

export function createOrganizations(
  store: Store,
  link: SignerLink,
  onRefused: OrganizationContext["onRefused"],
  admission: Admission = createAdmission(admissionLimits),
  issuers: IssuerSource = noIssuers,
  orders: CourierOrders = noOrders,
): Organizations {
  const organizations = new Map<string, Organization>();
  const expected: OrganizationContext["expected"] = createLru(maxExpected);
  const context: OrganizationContext = {
    store,
    link,
    onRefused,
    expected,
    issuers,
    orders,
    onIdle: (id) => organizations.delete(id),
  };
  return {
    begin(organizationId, request) {
      let organization = organizations.get(organizationId);
      if (organization === undefined) {
        organization = new Organization(context, organizationId);
        organizations.set(organizationId, organization);
      }
      const preparation = new Preparation(store, admission, organization, request);
      forgetIdle(organizations);
      return preparation;
    },
    isCrowded: admission.isCrowded,
    forgetAll() {
      for (const { run } of organizations.values()) run?.abandon();
    },
  };
}

/** Organizations share nothing, so forgetting one costs it no more than offering its state again. */
function forgetIdle(organizations: Map<string, Organization>): void {
  if (organizations.size <= maxOrganizations) return;
  for (const [id, { isBusy }] of organizations) {
    if (isBusy) continue;
    organizations.delete(id);
    return;
  }
}
