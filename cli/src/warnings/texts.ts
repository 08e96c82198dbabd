/** Texts that a name can hardly be equal to. */

import { suggest } from "@keystead/core/policy/language/suggest.ts";
import { activityKinds, kindOf } from "@keystead/core/policy/vocabulary/activity_kinds.ts";
import type { Beside } from "./paths.ts";

/** Why the text looks wrong beside the name, or undefined. */
type TextCheck = (text: string, beside: Beside) => string | undefined;

/** Kinds that have been published under more than one type, by version. Policies that name one miss the others. */
export const versionedKinds: ReadonlySet<string> = new Set([
  ..."CREATE_API_KEYS CREATE_AUTHENTICATORS CREATE_OAUTH_PROVIDERS CREATE_POLICY CREATE_PRIVATE_KEYS".split(" "),
  ..."CREATE_READ_WRITE_SESSION CREATE_SUB_ORGANIZATION CREATE_USERS EMAIL_AUTH ETH_SEND_TRANSACTION".split(" "),
  ..."EXECUTE_SWAP INIT_OTP INIT_OTP_AUTH INIT_USER_EMAIL_RECOVERY OTP_LOGIN SET_PAYMENT_METHOD".split(" "),
  ..."SIGN_RAW_PAYLOAD SIGN_TRANSACTION SOL_SEND_TRANSACTION UPDATE_POLICY VERIFY_OTP".split(" "),
]);

const kinds = Object.keys(activityKinds);
const resources = [...new Set(Object.values(activityKinds).map(({ resource }) => resource))];
const actions = [...new Set(Object.values(activityKinds).map(({ action }) => action))];

function oneOf(noun: string, known: readonly string[]): TextCheck {
  return (text) =>
    known.includes(text)
      ? undefined
      : `no activity has the ${noun} \`${text}\`${lookAlike(text)}${suggest(text, known)}`;
}

/** A letter of another alphabet cannot be seen, only said. */
function lookAlike(text: string): string {
  const [strange] = text.match(/[^\x20-\x7e]/u) ?? [];
  if (strange === undefined) return "";
  const code = (strange.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return ` (it has the character U+${code}, which is not one of A to Z)`;
}

const type: TextCheck = (text) => {
  const kind = kindOf(text);
  if (activityKinds[kind] === undefined || !text.startsWith("ACTIVITY_TYPE_")) {
    const types = kinds.map((one) => `ACTIVITY_TYPE_${one}`);
    return `no activity has the type \`${text}\`${lookAlike(text)}${suggest(text, types)}`;
  }
  if (!versionedKinds.has(kind) && !/_V\d+$/.test(text)) return undefined;
  return `\`${kind}\` has several versions and this is one of them; activity.kind == '${kind}' is about all`;
};

const evmAddress: TextCheck = (text) => {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return undefined;
  const digits = text.replace(/^0x/i, "");
  if (digits === text) return "an address here begins with 0x, so this is never equal";
  if (!/^[0-9a-f]*$/i.test(digits)) return "an address here has hexadecimal digits only, so this is never equal";
  return `an address here has 40 digits after 0x and this has ${digits.length}, so it is never equal`;
};

/** Contract creation has no destination. */
const destination: TextCheck = (text, beside) => (text === "" ? undefined : evmAddress(text, beside));

/** Arguments can be anything; an address without its 0x is the slip that can be told. */
const argument: TextCheck = (text) =>
  /^[0-9a-f]{40}$/i.test(text) ? "an address here begins with 0x, so this is never equal" : undefined;

const selector: TextCheck = (text) =>
  text === "" || /^0x[0-9a-f]{8}$/i.test(text)
    ? undefined
    : "a function signature here is 0x and 8 digits, so this is never equal";

function id(noun: string): TextCheck {
  return (text) =>
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
      ? undefined
      : `${noun} is a UUID in lower case and not a name, so \`${text}\` is never equal`;
}

const user = id("the id of a user");
const tag = id("a tag here");
const wallet = id("the id of a wallet");

const checks: Readonly<Record<string, TextCheck>> = {
  "activity.kind": oneOf("kind", kinds),
  "activity.resource": oneOf("resource", resources),
  "activity.action": oneOf("action", actions),
  "activity.type": type,
  "activity.params.user_id": user,
  "activity.params.user_ids[]": user,
  "activity.params.wallet_id": wallet,
  "approvers[].id": user,
  "approvers[].tags[]": tag,
  "credentials[].user_id": user,
  "credentials[].id": id("the id of a credential"),
  "wallet.id": wallet,
  "wallets[].id": wallet,
  "private_key.id": id("the id of a private key"),
  "private_key.tags[]": tag,
  "eth.tx.to": destination,
  "eth.tx.from": evmAddress,
  "eth.tx.function_signature": selector,
  "eth.eip_712.domain.verifying_contract": evmAddress,
  "eth.eip_7702_authorization.address": evmAddress,
  "tempo.tx.from": evmAddress,
  "tempo.tx.calls[].to": destination,
  "tempo.tx.calls[].function_signature": selector,
};

const argumentPath = /^eth\.(tx\.contract_call_args|eip_712\.message)\[/;

export function textWarning(beside: Beside): string | undefined {
  const check = checks[beside.path] ?? (argumentPath.test(beside.path) ? argument : undefined);
  return check?.(beside.text, beside);
}
