/** Payments, odd and bent, under policies that allow a few recipients: what is allowed goes nowhere else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { hex } from "@scure/base";
import { bentBytes } from "../../../test/policy/bent_bytes.ts";
import * as destinations from "../../../test/policy/destinations.ts";
import * as payments from "../../../test/policy/payments.ts";
import { type Chance, chosenSeed, seeded } from "../../../test/policy/seeded.ts";
import { samples } from "../../../test/samples.ts";
import { ethereumDigest, parseEthereum } from "../../chains/ethereum.ts";
import { parseSolana, solanaMessage } from "../../chains/solana.ts";
import { parseTron, tronDigest } from "../../chains/tron.ts";
import { toBase58 } from "../../encoding/base58.ts";
import { Fault } from "../../fault.ts";
import { type KeyView, viewsOf } from "../facts/condition_views.ts";
import type { ConditionFacts } from "../facts/facts.ts";
import { parseInterface } from "../interfaces/contract_interface.ts";
import { compilePolicy } from "./compiled_policy.ts";
import { decidePolicies } from "./decide.ts";

const rounds = samples.allowListPayments;

type Chain = {
  type: string;
  key: Pick<Extract<KeyView, { kind: "walletAccount" }>, "address" | "addressFormat" | "curve">;
  make(chance: Chance): Uint8Array;
  /** Read from the bytes alone, by other code. */
  read(bytes: Uint8Array): string[];
  isAllowed(destination: string): boolean;
  /** Whether the key signs these bytes, by a library or by comparing. */
  isSigned(bytes: Uint8Array): boolean;
  /** Sets of policies, each of which lets nothing go to anybody else. */
  sets: readonly (readonly { effect: "EFFECT_ALLOW" | "EFFECT_DENY"; condition: string }[])[];
};

const allow = (condition: string) => ({ effect: "EFFECT_ALLOW", condition }) as const;
const deny = (condition: string) => ({ effect: "EFFECT_DENY", condition }) as const;
const quoted = (items: readonly string[]) => `[${items.map((item) => `'${item}'`).join(", ")}]`;
const isSame = (a: Uint8Array, b: Uint8Array) => hex.encode(a) === hex.encode(b);

const evm = payments.evmAllowed.map((address) => `0x${hex.encode(address)}`);
/** In another letter case each, as people paste them. */
const evmList = quoted([
  evm[0] ?? "",
  `0x${evm[1]?.slice(2).toUpperCase()}`,
  `0x${evm[2]?.slice(2).replaceAll("a3", "A3a3").slice(0, 40)}`,
]);
const bareList = quoted(evm.map((address) => address.slice(2)));
const solana = payments.solanaAllowed.map((key) => toBase58(key));
const scripts = payments.bitcoinAllowed.map((script) => hex.encode(script));

const toToken = `eth.tx.to == '${destinations.token}'`;
const evmKey = { address: `0x${"01".repeat(20)}`, addressFormat: "ADDRESS_FORMAT_ETHEREUM", curve: "CURVE_SECP256K1" };

const chains: Readonly<Record<string, Chain>> = {
  ethereum: {
    type: "TRANSACTION_TYPE_ETHEREUM",
    key: evmKey,
    make: payments.ethereumPayment,
    read: destinations.ethereumDestinations,
    isAllowed: (destination) => evm.includes(destination),
    isSigned: (bytes) => isSame(keccak_256(bytes), ethereumDigest(parseEthereum(bytes))),
    sets: [
      [
        allow(`eth.tx.data == '0x' && eth.tx.to in ${evmList}`),
        allow(`${toToken} && eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['to'] in ${evmList}`),
        allow(`${toToken} && eth.tx.function_name == 'transferFrom' && eth.tx.contract_call_args['to'] in ${evmList}`),
        allow(
          `${toToken} && eth.tx.function_name == 'disperse' && eth.tx.contract_call_args['recipients'].all(r, r in ${evmList})`,
        ),
        allow(
          `${toToken} && eth.tx.function_name == 'executeBatch' && eth.tx.contract_call_args['calls'].all(c, c[0] in ${evmList})`,
        ),
      ],
      [allow(`${toToken} && eth.tx.data[0..10] == '0xa9059cbb' && eth.tx.data[34..74] in ${bareList}`)],
      [allow("true"), deny(`!(eth.tx.to in ${evmList})`)],
      [
        allow("true"),
        deny(`eth.tx.to != '${destinations.token}'`),
        deny(`!(eth.tx.contract_call_args['to'] in ${evmList})`),
      ],
    ],
  },
  tempo: {
    type: "TRANSACTION_TYPE_TEMPO",
    key: evmKey,
    make: payments.tempoPayment,
    read: destinations.tempoDestinations,
    isAllowed: (destination) => evm.includes(destination),
    // The placeholder for a fee payer is hashed instead of their signature; the calls are the same.
    isSigned: () => true,
    sets: [
      [
        allow(`tempo.tx.calls.all(c, c.to in ${evmList})`),
        allow(
          `tempo.tx.calls.all(c, c.to == '${destinations.token}' && c.function_signature == '0xa9059cbb' && c.input[34..74] in ${bareList})`,
        ),
      ],
      [allow("true"), deny(`tempo.tx.calls.any(c, !(c.to in ${evmList}))`)],
    ],
  },
  solana: {
    type: "TRANSACTION_TYPE_SOLANA",
    key: {
      address: toBase58(new Uint8Array(32).fill(1)),
      addressFormat: "ADDRESS_FORMAT_SOLANA",
      curve: "CURVE_ED25519",
    },
    make: payments.solanaPayment,
    read: destinations.solanaDestinations,
    isAllowed: (destination) => solana.includes(destination),
    isSigned: (bytes) => {
      const message = solanaMessage(parseSolana(bytes));
      return isSame(message, bytes.subarray(bytes.length - message.length));
    },
    sets: [
      [
        allow(
          `solana.tx.instructions.count() == solana.tx.transfers.count() && solana.tx.transfers.all(t, t.to in ${quoted(solana)})`,
        ),
        allow(
          `solana.tx.instructions.count() == solana.tx.spl_transfers.count() && solana.tx.spl_transfers.all(t, t.to in ${quoted(solana)})`,
        ),
      ],
      [
        allow("solana.tx.instructions.count() == solana.tx.transfers.count()"),
        deny(`solana.tx.transfers.any(t, !(t.to in ${quoted(solana)}))`),
      ],
    ],
  },
  tron: {
    type: "TRANSACTION_TYPE_TRON",
    key: {
      address: "TAUN6FwrnwwmaEqYcckffC7wYmbaS6cBiX",
      addressFormat: "ADDRESS_FORMAT_TRON",
      curve: "CURVE_SECP256K1",
    },
    make: payments.tronPayment,
    read: destinations.tronDestinations,
    isAllowed: (destination) => payments.tronAllowed.includes(destination) || evm.includes(destination),
    isSigned: (bytes) => isSame(sha256(bytes), tronDigest(parseTron(bytes))),
    sets: [
      [
        allow(
          `tron.tx.contract.all(c, c.type == 'TransferContract' && c.to_address in ${quoted(payments.tronAllowed)})`,
        ),
        allow(
          `tron.tx.contract.count() == 1 && tron.tx.contract[0].contract_address == '${destinations.tronToken}' && tron.tx.contract[0].data[0..8] == 'a9059cbb' && tron.tx.contract[0].data[32..72] in ${bareList}`,
        ),
      ],
      [
        allow("true"),
        deny(
          `tron.tx.contract.any(c, c.type != 'TransferContract' || !(c.to_address in ${quoted(payments.tronAllowed)}))`,
        ),
      ],
    ],
  },
  bitcoin: {
    type: "TRANSACTION_TYPE_BITCOIN",
    key: {
      address: "bc1qqyqszqgpqyqszqgpqyqszqgpqyqszqgpwcvpgp",
      addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH",
      curve: "CURVE_SECP256K1",
    },
    make: payments.bitcoinPayment,
    read: destinations.bitcoinDestinations,
    isAllowed: (destination) => scripts.includes(destination),
    isSigned: () => true,
    sets: [
      [allow(`bitcoin.tx.outputs.all(o, o.address in ${quoted(payments.bitcoinAllowedAddresses)})`)],
      [allow("true"), deny(`bitcoin.tx.outputs.any(o, !(o.address in ${quoted(payments.bitcoinAllowedAddresses)}))`)],
    ],
  },
};

const user = { userId: "u", userName: "Somebody", userTags: [], credentials: [] };
const credential = { id: "c", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "" };
const tokenInterface = parseInterface("ETHEREUM", payments.tokenAbi);

const compiled = Object.fromEntries(
  Object.entries(chains).map(([name, { sets }]) => [
    name,
    sets.map((set) =>
      set.map((text, i) => ({ policyId: `${i}`, policy: compilePolicy({ ...text, consensus: "", time: "" }) })),
    ),
  ]),
);

function viewOf({ type, key }: Chain, bytes: Uint8Array): readonly ConditionFacts[] {
  return viewsOf({
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    params: { type, unsignedTransaction: hex.encode(bytes), signWith: key.address },
    key: {
      kind: "walletAccount",
      wallet: { walletId: "w", walletName: "Treasury", imported: false, exported: false },
      path: "m/44'/60'/0'/0/0",
      publicKey: `02${"01".repeat(32)}`,
      ...key,
    },
    findInterface: (kind, address) =>
      kind === "ETHEREUM" && address.toLowerCase() === destinations.token ? tokenInterface : undefined,
  });
}

test(`${rounds} payments, most of them bent: whatever is allowed goes to the list and nowhere else`, (t) => {
  const seed = chosenSeed();
  const chance = seeded(seed);
  const traces = Error.stackTraceLimit;
  // Stacks of refusals would take most of the time.
  Error.stackTraceLimit = 0;
  t.after(() => {
    Error.stackTraceLimit = traces;
  });
  const names = Object.keys(chains);
  const counts = new Map(
    Object.entries(chains).map(([name, { sets }]) => [name, { unreadable: 0, refused: 0, allowed: sets.map(() => 0) }]),
  );
  for (let round = 0; round < rounds; round++) {
    const name = names[round % names.length] ?? "";
    const chain = chains[name] as Chain;
    const made = chain.make(chance);
    const bytes = chance.once(2) ? bentBytes(made, chain.make(chance), chance) : made;
    const where = () => `seed ${seed}, round ${round}, ${name}: ${hex.encode(bytes)}`;
    const count = counts.get(name) ?? { unreadable: 0, refused: 0, allowed: [] };
    let views: readonly ConditionFacts[];
    try {
      views = viewOf(chain, bytes);
    } catch (error) {
      assert.ok(error instanceof Fault && error.code === "invalid_argument", `${where()}: ${error}`);
      count.unreadable++;
      continue;
    }
    for (const [set, policies] of (compiled[name] ?? []).entries()) {
      const { verdict } = decidePolicies({
        policies,
        views,
        proposerId: user.userId,
        approvers: [{ user, credential }],
        members: () => [user],
        nowMs: 0,
      });
      if (verdict !== "allow") {
        count.refused++;
        continue;
      }
      count.allowed[set] = (count.allowed[set] ?? 0) + 1;
      const outside = chain.read(bytes).filter((destination) => !chain.isAllowed(destination));
      assert.deepEqual(outside, [], where());
      assert.ok(chain.isSigned(bytes), where());
    }
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(Object.fromEntries(counts))}`);
  for (const [name, { unreadable, refused, allowed }] of counts) {
    assert.ok(Math.min(refused, unreadable) > rounds / 200, `${name} refuses too little`);
    for (const [set, times] of allowed.entries())
      assert.ok(times > rounds / 500, `${name}: set ${set} allows too little`);
  }
});
