/** The organizations that have requests under way, or a run that the next request may follow. */
import { createLru } from "../../state/lru.ts";
import { findStateLength } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { type Admission, createAdmission } from "../bounds/admission.ts";
import { admissionLimits } from "../bounds/memory_bounds.ts";
import { noRest, type ReadForSubmit } from "../bounds/query_queue.ts";
import { type CourierOrders, noOrders } from "../link/courier_orders.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { Organization, type OrganizationContext } from "./organization.ts";
import { Preparation, type PrepareRequest } from "./preparation.ts";
import { type IssuerSource, noIssuers } from "./wishes.ts";

export type Organizations = {
  /** A turn of a request with the signer. Whoever begins one closes it. */
  begin(organizationId: string, request: PrepareRequest): Preparation;
  /** Of an organization's state, in bytes: as it was last seen here, or as the database has it. */
  stateLength(organizationId: string): number | Promise<number>;
  /** What one of this organization led to is committed, or will not be. */
  replyGone(organizationId: string): void;
  /** Whether so many wait for an organization that a stranger should not join them. */
  isCrowded(organizationId: string): boolean;
  /** Everything is offered anew: the signer is another one. */
  forgetAll(): void;
};

const maxOrganizations = 5_000;
/** Each is two ids and a number. */
const maxExpected = 50_000;
/** Each is an id and a number; others are asked for with one small query. */
const maxStateLengths = 100_000;

export function createOrganizations(
  store: Store,
  link: SignerLink,
  onRefused: OrganizationContext["onRefused"],
  admission: Admission = createAdmission(admissionLimits),
  issuers: IssuerSource = noIssuers,
  orders: CourierOrders = noOrders,
  readForSubmit: ReadForSubmit = noRest,
): Organizations {
  const organizations = new Map<string, Organization>();
  const expected: OrganizationContext["expected"] = createLru(maxExpected);
  const stateLengths: OrganizationContext["stateLengths"] = createLru(maxStateLengths);
  const context: OrganizationContext = {
    store,
    link,
    onRefused,
    expected,
    stateLengths,
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
      const preparation = new Preparation({ store, admission, readForSubmit }, organization, request);
      forgetIdle(organizations);
      return preparation;
    },
    stateLength: (organizationId) => stateLengths.get(organizationId) ?? findStateLength(store, organizationId),
    replyGone: admission.replyGone,
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
