/** The activity of a test case: which of the file's keys, wallets and secrets it is about. */
import { Fault } from "../../fault.ts";
import { type AddressFormat, addressFormatNames, isSameAddress } from "../../keys/address_formats.ts";
import type { ActivityFacts, KeyView, WalletView } from "../facts/condition_views.ts";
import { parseInterface } from "../interfaces/contract_interface.ts";
import { kindOf } from "../vocabulary/activity_kinds.ts";
import type { CaseAccount, CaseKey, PolicyCase, PolicyCaseFile } from "./case_file.ts";

type Activity = PolicyCase["activity"];

/** The activity as the engine looks at it, with what of the file it names. */
export function toActivityFacts(file: PolicyCaseFile, { type, parameters }: Activity): ActivityFacts {
  return {
    type,
    params: parameters,
    ...(subjectOf[kindOf(type)]?.(file, parameters) ?? {}),
    findInterface(kind, address) {
      const found = (file.interfaces ?? []).find(
        (one) => one.type === kind && sameContract(kind, one.smartContractAddress, address),
      );
      return found && parseInterface(kind, found.smartContractInterface);
    },
  };
}

function sameContract(kind: "ETHEREUM" | "SOLANA", one: string, other: string): boolean {
  return kind === "SOLANA" ? one === other : one.toLowerCase() === other.toLowerCase();
}

type Subject = Pick<ActivityFacts, "key" | "wallet" | "wallets" | "secrets">;
type FindSubject = (file: PolicyCaseFile, parameters: Activity["parameters"]) => Subject;

/** The key that one of these parameters names; versions of an activity differ in the parameter's name. */
function keyIn(...names: string[]): FindSubject {
  return (file, parameters) => {
    const name = names.find((name) => typeof parameters[name] === "string");
    if (name === undefined) throw new Fault("invalid_argument", `the parameters have no \`${names[0]}\``);
    const text = String(parameters[name]);
    return { key: toKeyView(getKey(file, text), text) };
  };
}

const signer = keyIn("signWith", "privateKeyId");

/** What an activity is about, by kind. Kinds that use no key are not here. */
const subjectOf: Readonly<Record<string, FindSubject>> = {
  SIGN_TRANSACTION: signer,
  SIGN_RAW_PAYLOAD: signer,
  SIGN_RAW_PAYLOADS: signer,
  ETH_SEND_TRANSACTION: keyIn("from"),
  ETH_SEND_RAW_TRANSACTION: keyIn("from", "signWith"),
  SOL_SEND_TRANSACTION: signer,
  SPARK_SIGN_FROST: signer,
  SPARK_PREPARE_TRANSFER: signer,
  SPARK_CLAIM_TRANSFER: signer,
  SPARK_PREPARE_LIGHTNING_RECEIVE: signer,
  EARN_DEPOSIT: signer,
  EARN_WITHDRAW: signer,
  EXPORT_PRIVATE_KEY: keyIn("privateKeyId"),
  EXPORT_WALLET_ACCOUNT: keyIn("address"),
  EXPORT_WALLET: (file, { walletId }) => ({ wallet: toWallet(getAccount(file, walletId)) }),
  DELETE_WALLETS: (file, parameters) => ({
    wallets: listIn(parameters, "walletIds").map((id) => toWallet(getAccount(file, id))),
  }),
  EXPORT_SECRETS: (file, parameters) => ({
    secrets: listIn(parameters, "secretIds").map((id) => getSecret(file, id)),
  }),
};

function getKey({ keys = [] }: PolicyCaseFile, name: string): CaseKey {
  const found = keys.find((key) => {
    if ("privateKeyId" in key && key.privateKeyId === name) return true;
    const { addressFormat, address } = key;
    return (
      addressFormat !== undefined && address !== undefined && isSameAddress(toFormat(addressFormat), name, address)
    );
  });
  if (found === undefined) throw new Fault("not_found", `none of the file's keys is \`${name}\``);
  return found;
}

function getAccount({ keys = [] }: PolicyCaseFile, walletId: unknown): CaseAccount {
  const found = keys.find((key) => "walletId" in key && key.walletId === walletId);
  if (found === undefined) throw new Fault("not_found", `none of the file's keys is of the wallet \`${walletId}\``);
  return found as CaseAccount;
}

function getSecret({ secrets = [] }: PolicyCaseFile, secretId: unknown): Readonly<Record<string, string>> {
  const found = secrets.find((secret) => secret.secretId === secretId);
  if (found === undefined) throw new Fault("not_found", `none of the file's secrets is \`${secretId}\``);
  return found.staticProperties;
}

function toFormat(name: string): AddressFormat {
  const format = addressFormatNames.find((known) => known === name);
  if (format === undefined) throw new Fault("invalid_argument", `there is no address format \`${name}\``);
  return format;
}

function toWallet({ walletId, walletName, imported = false, exported = false }: CaseAccount): WalletView {
  return { walletId, walletName, imported, exported };
}

/** A private key that is named by its id signs as no address in particular. */
function toKeyView(key: CaseKey, name: string): KeyView {
  if ("walletId" in key) {
    const { address, addressFormat, path, curve, publicKey } = key;
    return { kind: "walletAccount", wallet: toWallet(key), address, addressFormat, path, curve, publicKey };
  }
  const { tags = [], imported = false, exported = false, address, addressFormat, ...rest } = key;
  const view = { kind: "privateKey", ...rest, tags, imported, exported } as const;
  if (name === key.privateKeyId || address === undefined || addressFormat === undefined) return view;
  return { ...view, address, addressFormat };
}

function listIn(parameters: Activity["parameters"], name: string): readonly unknown[] {
  const list = parameters[name];
  if (!Array.isArray(list)) throw new Fault("invalid_argument", `the parameters have no list \`${name}\``);
  return list;
}
