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
import type { CallerRow } from "../../store/organizations.ts";
import { verifyIdentity } from "../evidence/read_identity.ts";
import { findLinkable, type LinkingDependencies, ownVouchedEmail } from "./linking.ts";
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

type Asked = { dependencies: LinkingDependencies; config: ProxyConfig; request: AccountRequest };

/** One row per `filterType`. Names are nobody's identity, because anyone can take any: so nobody is found by one. */
const filters: Readonly<Record<string, (value: string, asked: Asked) => Promise<CallerRow[]>>> = {
  EMAIL: (value, asked) => findByContact("email", parseSearchedEmail(value), asked),
  PHONE_NUMBER: (value, asked) => findByContact("phone", parsePhoneNumber(value), asked),
  PUBLIC_KEY: (value, asked) =>
    findAll(
      curves.map((curve) => keyIdentity(curve, parseSearchedKey(value))),
      asked,
    ),
  // Who makes a passkey chooses its id, and may choose one that they have seen. The oldest answers: it is the owner's.
  CREDENTIAL_ID: async (value, asked) => (await findAll(passkeyIdentities(value), asked)).slice(0, 1),
  NAME: async () => [],
  USERNAME: async () => [],
  OIDC_TOKEN: findByToken,
  OIDC_CLAIMS: (value, asked) => findAll([claimedIdentity(readClaims(value))], asked),
};

const curves = apiKeyCurve.enum as readonly string[];

export async function findAccount(
  dependencies: LinkingDependencies,
  config: ProxyConfig,
  request: AccountRequest,
): Promise<{ organizationId?: string }> {
  const { filterType, filterValue } = request;
  const filter = Object.hasOwn(filters, filterType) ? filters[filterType] : undefined;
  if (filter === undefined) {
    const known = Object.keys(filters).join(", ");
    throw new Fault("invalid_argument", `invalid filter type: \`${filterType}\` is none of ${known}`);
  }
  const found = await filter(filterValue, { dependencies, config, request });
  const [organizationId, ...others] = new Set(found.map((row) => row.organizationId));
  if (others.length > 0) {
    throw new Fault("unauthenticated", "more than one suborg associated with this identity", {
      errorCode: "CREDENTIAL_CONFLICT",
    });
  }
  return organizationId === undefined ? {} : { organizationId };
}

async function findAll(
  identities: readonly Identity[],
  { dependencies: { store }, config: { organizationId } }: Asked,
): Promise<CallerRow[]> {
  return (await Promise.all(identities.map((identity) => findIdentity(store, organizationId, identity)))).flat();
}

/** Also whoever would be linked by signing in with this token: clients ask here whether to sign in or to sign up. */
async function findByToken(value: string, asked: Asked): Promise<CallerRow[]> {
  const { dependencies, config } = asked;
  const claims = await verifyIdentity(dependencies.issuers, value, Date.now());
  const known = await findAll([issuerIdentity(claims)], asked);
  return known.length > 0 ? known : findLinkable(dependencies, config, claims);
}

async function findByContact(kind: Contact["kind"], contact: string | undefined, asked: Asked): Promise<CallerRow[]> {
  if (contact === undefined || !(await isShown({ kind, contact }, asked))) return [];
  return findAll([{ what: "contact", contact: { kind, contact } }], asked);
}

/**
 * Who has an account is told only to whoever has the contact, where the configuration says so. Who brings an identity token hears of the
 * address that it vouches for, and of others as if nobody had them.
 */
async function isShown(wanted: Contact, { dependencies, config, request }: Asked): Promise<boolean> {
  const isRequired = config.settings.verificationTokenRequiredForGetAccountPii;
  if (isRequired && request.verificationToken) {
    checkHolder(wanted, contactOfToken(readProxyToken(dependencies, config, request.verificationToken)));
    return true;
  }
  if (wanted.kind === "email" && request.oidcToken) {
    const claims = await verifyIdentity(dependencies.issuers, request.oidcToken, Date.now());
    const email = ownVouchedEmail(dependencies, config, claims);
    return email !== undefined && isSameContact(wanted, { kind: "email", contact: email });
  }
  if (!isRequired) return true;
  throw new Fault("permission_denied", "a verificationToken for this contact is needed to look up its account", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

function checkHolder(wanted: Contact, held: Contact): void {
  if (isSameContact(wanted, held)) return;
  throw new Fault("permission_denied", "the verificationToken is for another contact", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

function isSameContact(one: Contact, other: Contact): boolean {
  const { kind } = one;
  return kind === other.kind && comparableContact(kind, one.contact) === comparableContact(kind, other.contact);
}

function readClaims(value: string): { iss: string; sub: string; aud: string } {
  const { iss, sub, aud } = readBody(new TextEncoder().encode(value));
  if (typeof iss === "string" && typeof sub === "string" && typeof aud === "string") return { iss, sub, aud };
  throw new Fault("invalid_argument", "invalid filter value: OIDC_CLAIMS takes JSON with the texts iss, sub and aud");
}
