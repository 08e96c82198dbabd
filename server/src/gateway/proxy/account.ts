/** `account`: which sub-organization an identity signs in to. It answers for identities that count, and for nothing else. */
import { Fault } from "@keystead/core/fault.ts";
import { comparableContact } from "@keystead/core/otp/otp_types.ts";
import { readBody } from "../../endpoints/envelope.ts";
import type { AccountRequest } from "../../fields/auth_proxy_requests.ts";
import { apiKeyCurve } from "../../fields/credentials.ts";
import { parseSearchedKey } from "../../fields/public_key.ts";
import { parsePhoneNumber, parseSearchedEmail } from "../../rules/contacts.ts";
import { contactOfToken } from "../../rules/verification_tokens.ts";
import type { Contact } from "../../state/contacts.ts";
import { verifyIdentity } from "../evidence/read_identity.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import type { ProxyConfig } from "./proxy_configs.ts";
import { readProxyToken } from "./proxy_tokens.ts";
import {
  claimedIdentity,
  findIdentity,
  type Identity,
  issuerIdentity,
  keyIdentity,
  passkeyIdentities,
} from "./sign_up_identities.ts";

/** One row per `filterType`. Names are nobody's identity: anyone can take any. */
const filters: Readonly<
  Record<string, (value: string, dependencies: SubmitDependencies) => Identity[] | Promise<Identity[]>>
> = {
  EMAIL: (value) => contactOf("email", parseSearchedEmail(value)),
  PHONE_NUMBER: (value) => contactOf("phone", parsePhoneNumber(value)),
  PUBLIC_KEY: (value) => curves.map((curve) => keyIdentity(curve, parseSearchedKey(value))),
  CREDENTIAL_ID: passkeyIdentities,
  OIDC_TOKEN: async (value, { issuers }) => [issuerIdentity(await verifyIdentity(issuers, value, Date.now()))],
  OIDC_CLAIMS: (value) => [claimedIdentity(readClaims(value))],
};

const curves = apiKeyCurve.enum as readonly string[];

function contactOf(kind: Contact["kind"], contact: string | undefined): Identity[] {
  return contact === undefined ? [] : [{ what: "contact", contact: { kind, contact } }];
}

export async function findAccount(
  dependencies: SubmitDependencies,
  config: ProxyConfig,
  { filterType, filterValue, verificationToken }: AccountRequest,
): Promise<{ organizationId?: string }> {
  const filter = Object.hasOwn(filters, filterType) ? filters[filterType] : undefined;
  if (filter === undefined) {
    const known = Object.keys(filters).join(", ");
    throw new Fault("invalid_argument", `invalid filter type: \`${filterType}\` is none of ${known}`);
  }
  const identities = await filter(filterValue, dependencies);
  if (config.settings.verificationTokenRequiredForGetAccountPii) {
    for (const identity of identities) {
      if (identity.what === "contact") checkHolder(dependencies, config, identity.contact, verificationToken);
    }
  }
  const found = (
    await Promise.all(identities.map((identity) => findIdentity(dependencies.store, config.organizationId, identity)))
  ).flat();
  const [organizationId, ...others] = new Set(found.map((row) => row.organizationId));
  if (others.length > 0) {
    throw new Fault("unauthenticated", "more than one suborg associated with this identity", {
      errorCode: "CREDENTIAL_CONFLICT",
    });
  }
  return organizationId === undefined ? {} : { organizationId };
}

/** Who has an account is told only to whoever has the contact, where the configuration says so. */
function checkHolder(
  dependencies: SubmitDependencies,
  config: ProxyConfig,
  wanted: Contact,
  token: string | null | undefined,
): void {
  if (!token) {
    throw new Fault("permission_denied", "a verificationToken for this contact is needed to look up its account", {
      errorCode: "REQUEST_NOT_AUTHORIZED",
    });
  }
  const { kind, contact } = contactOfToken(readProxyToken(dependencies, config, token));
  if (kind === wanted.kind && comparableContact(kind, contact) === comparableContact(kind, wanted.contact)) return;
  throw new Fault("permission_denied", "the verificationToken is for another contact", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

function readClaims(value: string): { iss: string; sub: string; aud: string } {
  const { iss, sub, aud } = readBody(new TextEncoder().encode(value));
  if (typeof iss === "string" && typeof sub === "string" && typeof aud === "string") return { iss, sub, aud };
  throw new Fault("invalid_argument", "invalid filter value: OIDC_CLAIMS takes JSON with the texts iss, sub and aud");
}
