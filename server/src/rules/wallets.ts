/**
 * From a wallet's seed and what is asked for to the records of its accounts. Everything that can be refused is refused before
 * the first key is derived; seeds and derived keys are wiped, except those that the outcome hands on to be sealed.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type AddressUse, getAddressUse } from "@keystead/core/keys/address_formats.ts";
import { derivingKeyPair, type KeyPair } from "@keystead/core/keys/derive.ts";
import { entropyLengths } from "@keystead/core/keys/mnemonic.ts";
import { derivedPath, formatPath, type Path, parsePath } from "@keystead/core/keys/path.ts";
import type { MnemonicLanguage } from "@keystead/core/keys/word_lists.ts";
import type { Work } from "@keystead/core/work.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { KeyAccess, NewRecord } from "../endpoints/key_access.ts";
import { foldName } from "../fields/names.ts";
import type { WalletAccountParams, WalletParams } from "../fields/wallets.ts";
import type { RecordWish } from "../state/record_wish.ts";
import type { WalletAccountRecord, WalletRecord } from "../state/records.ts";
import { encodeWalletSecret, seedOfWallet, type WalletSecret } from "../state/wallet_secret.ts";
import { isLive, refuseTakenName, takenName } from "./keys.ts";
import { wipedUnlessDone } from "./made_records.ts";

/**
 * Every component is a step of derivation, and the signer takes one step at a time for everybody: a hundred accounts of ten
 * components each are more than anyone uses, a hundred of 255 would keep all others waiting for seconds.
 */
const maxSteps = 1_000;

/** An account that may be derived: what was asked for, understood. */
export type AskedAccount = {
  params: WalletAccountParams;
  path: Path;
  /** Equal for two paths of one curve that lead to the same key. */
  pathKey: string;
  use: AddressUse;
};

/** Reads what is asked for, each account on its own; whether two are the same is the question of who stores them. */
export function parseAccounts(accounts: readonly WalletAccountParams[]): AskedAccount[] {
  let steps = 0;
  return accounts.map((params) => {
    const path = parsePath(params.path);
    steps += path.length;
    if (steps > maxSteps) {
      throw new Fault(
        "invalid_argument",
        `invalid path: the paths of one request may have ${maxSteps} components in all`,
      );
    }
    const use = getAddressUse(params.addressFormat, params.curve);
    return { params, path, pathKey: formatPath(derivedPath(params.curve, path)), use };
  });
}

/** One request cannot make the same account or the same name twice. No secret is needed to see that. */
export function refuseRepeatedAccounts(accounts: readonly AskedAccount[]): void {
  const first = new Map<string, number>();
  const names = new Set<string>();
  for (const [index, { params }] of accounts.entries()) {
    const place = placeOf(params);
    const same = first.get(place);
    // Not as an account that exists: clients take that for done, and nothing of this request is.
    if (same !== undefined) {
      throw new Fault("invalid_argument", `invalid path: accounts ${same} and ${index} of the request are the same`);
    }
    first.set(place, index);
    if (params.name) {
      const name = foldName(params.name);
      if (names.has(name)) throw takenName("walletAccount", params.name);
      names.add(name);
    }
  }
}

/** What may stand in the way of a new wallet. */
export function walletWishes({ walletName, accounts }: WalletNames): RecordWish[] {
  return [{ by: "name", kind: "wallet", name: walletName }, ...accountNameWishes(accounts)];
}

type WalletNames = { walletName: string; accounts: readonly WalletAccountParams[] };

/** The wallet, and what may stand in the way of new accounts of it. */
export function accountWishes(walletId: string, accounts: readonly WalletAccountParams[]): RecordWish[] {
  const places = accounts.flatMap(({ curve, path, addressFormat }): RecordWish[] => {
    const pathKey = findPathKey(curve, path);
    return pathKey === undefined ? [] : [{ by: "place", walletId, pathKey, curve, addressFormat }];
  });
  return [{ by: "id", kind: "wallet", id: walletId }, ...places, ...accountNameWishes(accounts)];
}

function accountNameWishes(accounts: readonly WalletAccountParams[]): RecordWish[] {
  return accounts.flatMap(({ name }) => (name ? [{ by: "name", kind: "walletAccount", name } as const] : []));
}

/** Wishes are made before anybody is known: what is wrong with a path is said later, to those who may hear it. */
function findPathKey(curve: WalletAccountParams["curve"], path: string): string | undefined {
  try {
    return formatPath(derivedPath(curve, parsePath(path)));
  } catch {
    return undefined;
  }
}

/** Refuses names that the organization has already. */
export function refuseTakenWalletNames(keys: KeyAccess, { walletName, accounts }: WalletNames): void {
  refuseTakenName(keys, "wallet", walletName);
  refuseTakenAccountNames(keys, accounts);
}

export function refuseTakenAccountNames(keys: KeyAccess, accounts: readonly WalletAccountParams[]): void {
  for (const { name } of accounts) if (name) refuseTakenName(keys, "walletAccount", name);
}

/** Refuses accounts that the wallet has already, under whatever spelling of their path. */
export function refuseTakenPlaces(keys: KeyAccess, walletId: string, accounts: readonly AskedAccount[]): void {
  const holders = new Map<string, string>();
  for (const record of keys.records) {
    if (record.kind !== "walletAccount" || record.walletId !== walletId || !isLive(keys, record)) continue;
    holders.set(placeOf(record), record.walletAccountId);
  }
  for (const { params } of accounts) {
    const holder = holders.get(placeOf(params));
    if (holder !== undefined) throw pathExists(holder);
  }
}

function placeOf({
  curve,
  path,
  addressFormat,
}: Pick<WalletAccountRecord, "curve" | "path" | "addressFormat">): string {
  return `${curve} ${addressFormat} ${findPathKey(curve, path)}`;
}

function pathExists(walletAccountId: string): Fault {
  return new Fault("already_exists", `path already exists in wallet account ${walletAccountId}`);
}

/** A wallet of new words. */
export function* generateWallet(
  context: ActivityContext,
  organizationId: string,
  { walletName, mnemonicLength }: Omit<WalletParams, "accounts">,
  accounts: readonly AskedAccount[],
): ReturnType<typeof newWallet> {
  refuseRepeatedAccounts(accounts);
  const entropy = context.keys.random(entropyLengths[mnemonicLength ?? 12] ?? 0);
  try {
    const language = "MNEMONIC_LANGUAGE_ENGLISH";
    const names = { organizationId, walletName };
    const draft = { ...names, language, secret: { entropy }, imported: false, accounts } as const;
    return yield* newWallet(context, draft);
  } finally {
    entropy.fill(0);
  }
}

/** Everything about a wallet that is to be. The caller wipes the secret. */
export type WalletDraft = {
  /** Not the context's own, when the wallet is born together with its organization. */
  organizationId: string;
  walletName: string;
  language: MnemonicLanguage;
  secret: WalletSecret;
  imported: boolean;
  accounts: readonly AskedAccount[];
};

/**
 * The records of a wallet and its accounts. Names and limits are checked by then; an imported seed that the organization has is
 * refused here, because it is only known here.
 */
export function* newWallet(
  context: ActivityContext,
  draft: WalletDraft,
): Work<{ walletId: string; addresses: string[]; records: NewRecord[] }> {
  const { organizationId, walletName, language, imported, accounts } = draft;
  const { keys, nowMs } = context;
  const secret = encodeWalletSecret(draft.secret);
  let seed: Uint8Array | undefined;
  let isDone = false;
  try {
    seed = seedOfWallet(keys.signing.keys, language, secret);
    const blindIndex = keys.blindIndex("wallet", seed, organizationId);
    if (imported) refuseKnownSeed(keys, blindIndex);
    const tag = keys.tag("wallet", secret, organizationId);
    const walletId = context.newId(tag);
    const names = { organizationId, walletId, walletName };
    const record: WalletRecord = { kind: "wallet", ...names, tag, language, imported, createdAtMs: nowMs };
    const derived = yield* newAccounts(context, record, seed, accounts);
    const wallet: NewRecord = { record, secret, blindIndex };
    isDone = true;
    return { walletId, addresses: derived.addresses, records: [wallet, ...derived.records] };
  } finally {
    // Refused, or dropped at a pause.
    if (!isDone) secret.fill(0);
    seed?.fill(0);
  }
}

function refuseKnownSeed(keys: KeyAccess, blindIndex: string): void {
  const known = keys.findByBlindIndex("wallet", blindIndex);
  if (known?.kind !== "wallet" || !isLive(keys, known)) return;
  throw new Fault("already_exists", `seed for wallet ${known.walletId} already imported in this organization`);
}

/** The seed of a wallet that is there. The caller wipes it. */
export function openSeed(keys: KeyAccess, wallet: WalletRecord): Uint8Array {
  const secret = keys.open(wallet);
  try {
    return seedOfWallet(keys.signing.keys, wallet.language, secret);
  } finally {
    secret.fill(0);
  }
}

type AccountRecord = NewRecord & { record: WalletAccountRecord };

/** The records of new accounts, and their addresses in the order asked for. */
export function* newAccounts(
  { keys, nowMs, newId }: ActivityContext,
  { organizationId, walletId, walletName, imported }: WalletRecord,
  seed: Uint8Array,
  accounts: readonly AskedAccount[],
): Work<{ addresses: string[]; records: NewRecord[] }> {
  const newAccount = ({ params, use }: AskedAccount, { privateKey, publicKey }: KeyPair) => {
    const { curve, path, addressFormat, name } = params;
    const tag = keys.tag("walletAccount", privateKey, organizationId);
    const record: WalletAccountRecord = {
      kind: "walletAccount",
      organizationId,
      walletAccountId: newId(tag),
      tag,
      walletId,
      wallet: { walletName, imported },
      curve,
      path,
      addressFormat,
      address: use.encode(publicKey),
      publicKey: toHex(publicKey.compressed),
      ...(name && { name }),
      createdAtMs: nowMs,
    };
    // Each record's secret is wiped when it has been sealed, so several formats of one path have a copy each.
    return { record, secret: Uint8Array.from(privateKey) };
  };
  const records = yield* wipedUnlessDone((made: AccountRecord[]) =>
    withKeyPairs(keys, seed, accounts, newAccount, made),
  );
  return { addresses: records.map(({ record }) => record.address), records };
}

/** The addresses alone, of accounts that nobody will store. */
export function* deriveAddresses(keys: KeyAccess, seed: Uint8Array, accounts: readonly AskedAccount[]): Work<string[]> {
  return yield* withKeyPairs(keys, seed, accounts, ({ use }, { publicKey }) => use.encode(publicKey));
}

/** Each key is derived once, however many formats it is wanted in, and wiped in the end. */
function* withKeyPairs<A extends AskedAccount, T>(
  keys: KeyAccess,
  seed: Uint8Array,
  accounts: readonly A[],
  use: (account: A, keyPair: KeyPair) => T,
  /** Has each of them as soon as it is there. */
  made: T[] = [],
): Work<T[]> {
  const derived = new Map<string, KeyPair>();
  try {
    for (const account of accounts) {
      const { curve } = account.params;
      const name = `${curve} ${account.pathKey}`;
      const keyPair = derived.get(name) ?? (yield* derivingKeyPair(keys.signing.keys, curve, seed, account.path));
      derived.set(name, keyPair);
      made.push(use(account, keyPair));
      yield;
    }
    return made;
  } finally {
    for (const { privateKey } of derived.values()) privateKey.fill(0);
  }
}
