/**
 * An organization with a wallet and policies on the signer of `signer_rig.ts`: ann is its root user, dave is not. An honest gateway
 * brings whatever the signer asks for; a test that plays a hostile one says what is brought instead.
 */
import assert from "node:assert/strict";
import { Fault } from "@keystead/core/fault.ts";
import type { Prepared, Request } from "../src/frames/messages.ts";
import { createQuorum, type Quorum, type QuorumOptions } from "./quorum_rig.ts";
import { offer, only, type StoredState } from "./signer_rig.ts";
import { pauseCall } from "./transactions.ts";

type Brought = Pick<Request<"prepare">, "records" | "wishes" | "pages">;
export type RecordRow = Brought["records"][number];

/** What a gateway brings in place of what it has. */
export type Hostile = { state?: StoredState; records?: readonly RecordRow[]; pages?: Brought["pages"] };

export type PolicySigner = {
  quorum: Quorum;
  /** Every record that was made, texts of interfaces among them. */
  records: RecordRow[];
  wallet: { walletId: string; addresses: [string] };
  /** What the signer makes of a body, once everything it asked for was brought or looked for in vain. */
  bring(name: string, body: Uint8Array, hostile?: Hostile): readonly Prepared[];
  /** Brought, committed and released: the result. */
  done<T>(name: string, type: string, parameters: object): T;
  policy(policyName: string, condition: string, effect?: "EFFECT_ALLOW" | "EFFECT_DENY"): string;
  /** Has a contract read by an interface of one function without arguments. */
  contractInterface(functionName: string, address: string): void;
  /** A body that signs a payload, with the wallet's account unless another key is named. */
  payload(hex?: string, signWith?: string): Uint8Array;
  /** A body that signs a call of `pause()` at `pausable`. */
  call(): Uint8Array;
};

export function createPolicySigner(before: Pick<QuorumOptions, "pages" | "pagesLength"> = {}): PolicySigner {
  const quorum = createQuorum({ ...before, members: ["ann"], others: ["dave"], threshold: 1 });
  const records: RecordRow[] = [];

  function bring(name: string, body: Uint8Array, hostile: Hostile = {}): readonly Prepared[] {
    const whole = hostile.state ?? quorum.state;
    // Pages of keys are brought when they are asked for.
    const state = { ...whole, pages: whole.pages.filter(({ name }) => !name.startsWith("keyFacts/")) };
    const links = quorum.committed.flatMap(({ next }) => (next === undefined ? [] : [next.header]));
    const sent = { stamp: quorum.stamp(name, body), records: hostile.records ?? records, links };
    let brought: Pick<Brought, "wishes" | "pages"> = { wishes: [], pages: hostile.pages ?? [] };
    let journal: Uint8Array | undefined;
    for (let round = 0; round < 5; round++) {
      const reply = offer(quorum.rig, state, body, { ...sent, ...brought, ...(journal && { journal }) });
      if (reply.kind === "prepared") return reply.value;
      const wishes = reply.value.flatMap((wish) => (wish.kind === "record" ? [wish.value.wish] : []));
      const slot = reply.value.find((wish) => wish.kind === "journal")?.value.slot;
      const isWished = (name: string) => reply.value.some((wish) => wish.kind === "page" && wish.value.name === name);
      const found = whole.pages.filter(({ name }) => isWished(name));
      brought = { wishes: [...brought.wishes, ...wishes], pages: hostile.pages ?? [...brought.pages, ...found] };
      if (slot !== undefined) journal = journalOf(quorum, slot);
    }
    throw new Fault("unavailable", "the signer goes on asking");
  }

  function done<T>(name: string, type: string, parameters: object): T {
    const prepared = bring(name, quorum.body(type, parameters));
    quorum.commit(prepared);
    const own = only(prepared);
    records.push(...own.records.map(({ content, sealed }) => ({ content, sealed })));
    const [released] = quorum.release(prepared);
    assert.ok(released?.kind === "released");
    assert.equal(own.activity?.status, "ACTIVITY_STATUS_COMPLETED", own.activity?.failure ?? "");
    return JSON.parse(released.value.result ?? own.activity?.result ?? "{}") as T;
  }

  const account = { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path: "m/44'/60'/0'/0/0" };
  const wallet = done<PolicySigner["wallet"]>("ann", "ACTIVITY_TYPE_CREATE_WALLET", {
    walletName: "Cold",
    accounts: [{ ...account, addressFormat: "ADDRESS_FORMAT_ETHEREUM" }],
  });
  const [address] = wallet.addresses;
  const choices = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };
  const call = { signWith: address, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: pauseCall };
  return {
    quorum,
    records,
    wallet,
    bring,
    done,
    policy(policyName, condition, effect = "EFFECT_ALLOW") {
      const parameters = { policyName, effect, condition, notes: "" };
      return done<{ policyId: string }>("ann", "ACTIVITY_TYPE_CREATE_POLICY_V3", parameters).policyId;
    },
    contractInterface(name, smartContractAddress) {
      const smartContractInterface = JSON.stringify([{ type: "function", name, inputs: [], outputs: [] }]);
      const type = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM";
      const parameters = { smartContractAddress, smartContractInterface, type, label: name };
      done("ann", "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", parameters);
    },
    payload: (payload = "aa", signWith = address) =>
      quorum.body("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", { signWith, payload, ...choices }),
    call: () => quorum.body("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", call),
  };
}

function journalOf({ committed }: Quorum, slot: number): Uint8Array {
  return Buffer.concat(committed.flatMap(({ activity }) => (activity?.slot === slot ? [activity.fingerprint] : [])));
}
