/** Signatures and votes on them. */
import { randomUUID } from "node:crypto";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { p2pkh, p2tr, RawTx, Transaction } from "@scure/btc-signer";
import { ethereum } from "../../matrix/keys.ts";
import { longExpression } from "../expressions.ts";
import type { Json } from "../lanes.ts";
import type { ActivityPath, Tenant, TenantUser } from "../tenant.ts";
import { type CourseOf, cycling, type Flood } from "./flood.ts";
import { cheapPrivateKeys, plainUsers } from "./parts.ts";

/** What signs: the id of a key on P-256, and accounts on secp256k1. */
type Signers = { p256: string; ethereum: string; taproot: BitcoinKey; legacy: BitcoinKey };
type BitcoinKey = { address: string; publicKey: string };

async function signers({ act, ask }: Tenant): Promise<Signers> {
  const bitcoin = ["P2TR", "P2PKH"].map((kind, index) => ({
    ...ethereum,
    path: `m/84'/0'/0'/0/${index}`,
    addressFormat: `ADDRESS_FORMAT_BITCOIN_MAINNET_${kind}`,
  }));
  const made = (await act("create_wallet", { walletName: randomUUID(), accounts: [ethereum, ...bitcoin] })).result;
  const keys = (await act("create_private_keys", { privateKeys: cheapPrivateKeys("CURVE_P256", 1) })).result
    .privateKeys;
  const keyOf = async (address: string) => {
    const { account } = await ask("get_wallet_account", { walletId: made.walletId, address });
    return { address, publicKey: account.publicKey as string };
  };
  const [ethereumAddress, taproot, legacy] = made.addresses as [string, string, string];
  const accounts = { taproot: await keyOf(taproot), legacy: await keyOf(legacy) };
  return { p256: keys[0].privateKeyId, ethereum: ethereumAddress, ...accounts };
}

const raw = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };

export function payloads(count: number, turn: number): string[] {
  return Array.from({ length: count }, (_, index) => (turn * 1_000 + index).toString(16).padStart(64, "0"));
}

/** Inputs of Taproot, each of which the key must sign: their keys are tweaked, too. */
export function taprootPsbt({ publicKey }: BitcoinKey, inputs: number): string {
  const { script } = p2tr(fromHex(publicKey).slice(1));
  const transaction = new Transaction();
  for (let index = 0; index < inputs; index++) {
    const txid = index.toString(16).padStart(64, "0");
    transaction.addInput({ txid, index: 0, witnessUtxo: { script, amount: 1_000n } });
  }
  transaction.addOutput({ script, amount: 1_000n });
  return toHex(transaction.toPSBT());
}

/** Inputs from before SegWit: each digest hashes the whole transaction, and each brings the one that it spends. */
function legacyPsbt({ publicKey }: BitcoinKey, inputs: number): string {
  const { script } = p2pkh(fromHex(publicKey));
  const transaction = new Transaction();
  for (let index = 0; index < inputs; index++) {
    const spent = RawTx.encode({
      ...{ version: 1, segwitFlag: false, lockTime: index, witnesses: [] },
      inputs: [{ txid: new Uint8Array(32).fill(1), index, finalScriptSig: new Uint8Array(0), sequence: 0 }],
      outputs: [{ amount: 1_000n, script }],
    });
    const txid = Transaction.fromRaw(spent, { allowUnknownInputs: true, allowUnknownOutputs: true }).id;
    transaction.addInput({ txid, index: 0, nonWitnessUtxo: spent });
  }
  transaction.addOutput({ script, amount: 1_000n });
  return toHex(transaction.toPSBT());
}

/** As many values as are taken, each a struct without a field and hashed by itself. */
function typedData(turn: number, values = 4_000): string {
  const types = {
    EIP712Domain: [],
    Turn: [
      { name: "turn", type: "uint256" },
      { name: "all", type: "None[]" },
    ],
    None: [],
  };
  const message = { turn, all: Array.from({ length: values }, () => ({})) };
  return JSON.stringify({ types, primaryType: "Turn", domain: {}, message });
}

const typed = { encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };

const courses = {
  typedData: ({ ethereum: signWith }: Signers, by: By): CourseOf =>
    async function* (lane) {
      for (let turn = 0; ; turn++) {
        yield lane.submit("sign_raw_payload", { signWith, payload: typedData(turn), ...typed }, by(lane.index));
      }
    },
  manyTypedData: ({ ethereum: signWith }: Signers, by: By): CourseOf =>
    async function* (lane) {
      for (let turn = 0; ; turn++) {
        const all = Array.from({ length: 20 }, (_, index) => typedData(turn * 100 + index));
        yield lane.submit("sign_raw_payloads", { signWith, payloads: all, ...typed }, by(lane.index));
      }
    },
  payloads:
    (count: number) =>
    ({ p256 }: Signers, by: By): CourseOf =>
      async function* (lane) {
        for (let turn = 0; ; turn++) {
          const asked = { signWith: p256, payloads: payloads(count, turn), ...raw };
          yield lane.submit("sign_raw_payloads", asked, by(lane.index));
        }
      },
  taproot: ({ taproot }: Signers, by: By) => oneTransaction(taproot, taprootPsbt(taproot, 250), by),
  legacy: ({ legacy }: Signers, by: By) => oneTransaction(legacy, legacyPsbt(legacy, 500), by),
};

/** Its own time tells one body from the next: making another such transaction would cost the attacker as much as the server. */
function oneTransaction({ address }: BitcoinKey, unsignedTransaction: string, by: By): CourseOf {
  const asked = { signWith: address, unsignedTransaction, type: "TRANSACTION_TYPE_BITCOIN" };
  return async function* (lane) {
    for (;;) yield lane.submit("sign_transaction", asked, by(lane.index));
  };
}

/** Who asks on each connection. */
type By = (index: number) => TenantUser | undefined;

function byRoot(course: (signers: Signers, by: By) => CourseOf, more: Omit<Flood, "begin"> = {}): Flood {
  return { ...more, begin: async (tenant) => course(await signers(tenant), () => undefined) };
}

/**
 * Users whom policies allow it, with as many as an organization has, and as many steps as a decision takes. Without them the root quorum
 * decides, and nothing is evaluated.
 */
function byPolicies(course: (signers: Signers, by: By) => CourseOf): Flood {
  return {
    async begin(tenant) {
      const users = await plainUsers(tenant);
      await signingPolicies(tenant);
      return course(await signers(tenant), (index) => users[index]);
    },
  };
}

/** Each visits all inputs of a transaction, and compares each with as many texts as an expression has room for. */
function aboutInputs(): string {
  const clauses = Array.from({ length: 90 }, (_, index) => `i.tx_id == '${index}'`);
  return `bitcoin.tx.inputs.any(i, ${clauses.join(" || ")})`;
}

export async function signingPolicies({ act }: Tenant): Promise<void> {
  const long = (condition: string) => ({ policyName: randomUUID(), effect: "EFFECT_DENY", condition, notes: "" });
  const allowing = { ...long("activity.action == 'SIGN'"), effect: "EFFECT_ALLOW" };
  const denying = `${longExpression().replace("CREATE_USER_TAG", "NONE")}`;
  await act("create_policies", { policies: [allowing, ...Array.from({ length: 4 }, () => long(aboutInputs()))] });
  for (let part = 0; part < 4; part++) {
    await act("create_policies", { policies: Array.from({ length: 30 }, () => long(denying)) });
  }
}

/** A member proposes what needs another's approval, and a root user votes. */
function voting(path: "approve_activity" | "reject_activity"): Flood {
  return {
    async begin(tenant) {
      const members = await plainUsers(tenant);
      const { p256 } = await signers(tenant);
      await tenant.act("create_policy", {
        ...{ policyName: "Two", effect: "EFFECT_ALLOW", notes: "" },
        ...{ condition: "activity.kind == 'SIGN_RAW_PAYLOADS'", consensus: "approvers.count() >= 2" },
      });
      return cycling(async function* (lane, turn) {
        const asked = { signWith: p256, payloads: payloads(850, turn), ...raw };
        const proposed: Json = (yield lane.submit("sign_raw_payloads", asked, members[lane.index])).json();
        yield lane.submit(path, { fingerprint: proposed.activity.fingerprint });
      });
    },
  };
}

export const signingFloods = {
  approve_activity: voting("approve_activity"),
  reject_activity: voting("reject_activity"),
  sign_raw_payload: byRoot(courses.typedData),
  sign_raw_payloads: byRoot(courses.payloads(850)),
  sign_transaction: byRoot(courses.taproot),
} satisfies Partial<Record<ActivityPath, Flood>>;

export const policyFloods = {
  "sign_raw_payload by policies": byPolicies(courses.typedData),
  "sign_raw_payloads by policies": byPolicies(courses.payloads(850)),
  "sign_transaction by policies": byPolicies(courses.taproot),
} satisfies Record<string, Flood>;

export const largeSigningFloods = {
  "large sign_raw_payloads": byRoot(courses.payloads(1_000), { isLarge: true }),
  "large typed data": byRoot(courses.manyTypedData, { isLarge: true }),
  "large sign_transaction": byRoot(courses.legacy, { isLarge: true }),
} satisfies Record<string, Flood>;
