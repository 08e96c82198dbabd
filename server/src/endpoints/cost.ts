/**
 * What a request costs, told from its parameters and the length of its organization's state, before anything is done for it. One unit
 * is a microsecond of the signer on the machine where these were measured; only their proportions matter. The gateway shares the signer
 * by them; the signer itself shares by the time that is really used, so that an estimate that is wrong costs nobody else anything.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { AddressFormat } from "@keystead/core/keys/address_formats.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import type { ActivityForm, AnyActivity } from "./define_activity.ts";

/** One place for all unit costs, as measured. */
export const unitCosts = {
  /** Of any activity: its stamp, the decision, the state and leaf it leads to. */
  request: 500,
  /** Of a body's thousand bytes: read, validated and hashed. */
  kilobyte: 10,
  /** A thousand bytes of an organization's state: offered and read; or written, hashed, carried and committed, in both processes. */
  stateRead: 10,
  stateWritten: 12,
  sign: { CURVE_SECP256K1: 900, CURVE_P256: 1_800, CURVE_ED25519: 200 },
  /** One component of a path, not hardened where the curve knows that. */
  derive: { CURVE_SECP256K1: 320, CURVE_P256: 80, CURVE_ED25519: 20 },
  /** A key pair at its end, or a new one. */
  keyPair: { CURVE_SECP256K1: 330, CURVE_P256: 80, CURVE_ED25519: 130 },
  address: 100,
  /** Tweaks the key. */
  taprootAddress: 2_000,
  /** From a mnemonic to a seed. */
  seed: 1_600,
  /** A bundle opened or made. */
  bundle: 1_000,
  /** A record that is made: sealed, and its rows. */
  newRecord: 150,
  /** A record that is looked for, opened, and changed in its page. */
  oldRecord: 100,
  /** A user, tag or other entry that is written. */
  entry: 20,
  /** A public key that must lie on its curve. */
  publicKey: 100,
  /** A signature of P-256 that must verify. */
  verify: 150,
  /** A registration of a passkey: read, its point checked and its statement verified. */
  passkey: 400,
  /** A token of another issuer, read and verified: its key may have 4,096 bits. */
  identityToken: 400,
  /** A thousand characters of a transaction, read and written; one of Bitcoin's may be nothing but small fields. */
  transaction: 100,
  psbt: 300,
  /** A thousand bytes that a digest of Bitcoin's from before SegWit hashes: each hashes the whole transaction. */
  legacyDigest: 2,
  /** A thousand characters of typed data: parsed for the decision and for the digest, and hashed value by value. */
  typedData: 500,
  /** A thousand characters of policies that are compiled. */
  expression: 600,
  /** A thousand characters of a contract's interface. */
  contractInterface: 300,
} as const satisfies Record<string, number | Record<Curve, number>>;

/** Whatever the curve is: only the record tells. */
const dearestSignature = Math.max(...Object.values(unitCosts.sign));

/** What one request may cost. Every published limit stays below it; a test holds that. */
export const maxRequestCost = 3_000_000;

export function costOfText(length: number, perThousand: number): number {
  return (length * perThousand) / 1_000;
}

/** An input of a PSBT that can be signed is at least so long, in hex. */
const inputCharacters = 180;

/** More than fit into a transaction that nodes pass on. */
export const maxTransactionSignatures = 2_000;

export function costOfTransaction({
  type,
  unsignedTransaction,
}: {
  type: string;
  unsignedTransaction: string;
}): number {
  const { length } = unsignedTransaction;
  if (type !== "TRANSACTION_TYPE_BITCOIN") {
    return unitCosts.sign.CURVE_SECP256K1 + costOfText(length, unitCosts.transaction);
  }
  const inputs = Math.min(Math.ceil(length / inputCharacters), maxTransactionSignatures);
  const digests = costOfText(legacyBytes(length), unitCosts.legacyDigest);
  return inputs * unitCosts.sign.CURVE_SECP256K1 + costOfText(length, unitCosts.psbt) + digests;
}

/**
 * The most that the digests of so much hex hash together: inputs times the length of the transaction. An input takes some ninety bytes
 * beside the transaction, of which there are `length / 2` in all, so that the product is greatest with `length / 360` inputs. Once
 * signed, the transaction must still be one that nodes relay, which bounds it at 500 inputs and 50,000 bytes.
 */
function legacyBytes(length: number): number {
  return Math.min(500 * 50_000, (length * length) / 1_440);
}

/** Payloads of which each is signed, whatever the curve is. */
export function costOfPayloads(payloads: readonly string[], encoding: string): number {
  const perThousand = encoding === "PAYLOAD_ENCODING_EIP712" ? unitCosts.typedData : unitCosts.kilobyte;
  const length = payloads.reduce((sum, payload) => sum + payload.length, 0);
  return payloads.length * dearestSignature + costOfText(length, perThousand);
}

type CostlyAccount = { curve: Curve; path: string; addressFormat: AddressFormat };

/** Accounts that are derived. Paths are not parsed for it: each slash is taken for a component that is not hardened. */
export function costOfAccounts(accounts: readonly CostlyAccount[]): number {
  return accounts.reduce((sum, { curve, path, addressFormat }) => {
    const steps = path.split("/").length - 1;
    const key = steps * unitCosts.derive[curve] + unitCosts.keyPair[curve];
    return sum + key + costOfAddress(addressFormat) + unitCosts.newRecord;
  }, 0);
}

export function costOfPrivateKeys(
  keys: readonly { curve: Curve; addressFormats: readonly AddressFormat[] }[] = [],
): number {
  return keys.reduce((sum, { curve, addressFormats }) => {
    const addresses = [...new Set(addressFormats)].reduce((all, format) => all + costOfAddress(format), 0);
    return sum + unitCosts.keyPair[curve] + addresses + unitCosts.newRecord;
  }, 0);
}

function costOfAddress(format: AddressFormat): number {
  return format.endsWith("_P2TR") ? unitCosts.taprootAddress : unitCosts.address;
}

type CostlyUser = {
  apiKeys?: readonly unknown[] | null;
  authenticators?: readonly unknown[] | null;
  oauthProviders?: readonly unknown[] | null;
  userTags?: readonly unknown[] | null;
};

export function costOfUsers(users: readonly CostlyUser[]): number {
  return users.reduce((sum, { apiKeys, authenticators, oauthProviders, userTags }) => {
    const keys = (apiKeys?.length ?? 0) * unitCosts.publicKey;
    const passkeys = (authenticators?.length ?? 0) * unitCosts.passkey;
    const identities = (oauthProviders?.length ?? 0) * unitCosts.identityToken;
    return sum + unitCosts.entry + keys + passkeys + identities + (userTags?.length ?? 0);
  }, 0);
}

/** A verification token and the signature of its holder, both verified. */
export function costOfToken({ verificationToken }: { verificationToken?: string | null }): number {
  return verificationToken ? 2 * unitCosts.verify : 0;
}

type Expressions = Partial<Record<"condition" | "consensus" | "time" | "policyCondition" | "policyConsensus", unknown>>;

export function costOfExpressions(policies: readonly Expressions[]): number {
  return policies.reduce((sum, policy) => {
    const length = Object.values(policy).reduce<number>(
      (all, text) => all + (typeof text === "string" ? text.length : 0),
      0,
    );
    return sum + unitCosts.entry + costOfText(length, unitCosts.expression);
  }, 0);
}

/** What a body says beside its type. */
type CostlyBody = { parameters: unknown; generateAppProofs: boolean };

/** Of a whole request, with its parameters as they came. */
export function costOf(
  { activity, translate }: Pick<ActivityForm, "activity" | "translate">,
  { parameters, generateAppProofs }: CostlyBody,
  bodyLength: number,
): number {
  return costOfTranslated(activity, { parameters: translate(parameters), generateAppProofs }, bodyLength);
}

/** The same with parameters in the newest form. */
export function costOfTranslated(
  { cost }: Pick<AnyActivity, "cost">,
  { parameters, generateAppProofs }: CostlyBody,
  bodyLength: number,
): number {
  const proofs = generateAppProofs ? costOfAppProofs(parameters as DerivingParams) : 0;
  return unitCosts.request + costOfText(bodyLength, unitCosts.kilobyte) + (cost?.(parameters as never) ?? 0) + proofs;
}

/** Where activities have the accounts that they derive. */
type DerivingParams = {
  accounts?: readonly unknown[] | null;
  wallet?: { accounts?: readonly unknown[] | null } | null;
};

/** A signature for each account, and one for the decision. A sign-up through the auth proxy always has them: its body asks for them. */
function costOfAppProofs({ accounts, wallet }: DerivingParams): number {
  const count = 1 + (accounts?.length ?? 0) + (wallet?.accounts?.length ?? 0);
  return count * unitCosts.sign.CURVE_P256;
}

/** Of an activity that is mostly done without a change: it writes pages where it must wait for approvals, which few do at once. */
const seldomWritten = 1 / 4;

/**
 * How much of its organization's pages a request may have written at most, in lengths of the whole state. Which pages an activity writes
 * only its run tells; and whatever it does, the first use of a key is noted among the members. App proofs keep the state besides.
 */
export function stateShareOf({ pure }: Pick<AnyActivity, "pure">, generateAppProofs: boolean): number {
  return (pure === true ? seldomWritten : 1) + (generateAppProofs ? 1 : 0);
}

/** What a request costs beside that, from the bytes of the state that it reads and writes. */
export function costOfState({ read, written }: { read: number; written: number }): number {
  return costOfText(read, unitCosts.stateRead) + costOfText(written, unitCosts.stateWritten);
}

/** Schemas and limits keep every activity below it. This is for one whose schema would let it grow beyond. */
export function refuseTooCostly(cost: number): void {
  if (cost <= maxRequestCost) return;
  throw new Fault("invalid_argument", "the request asks for too much work at once; split it into several");
}
