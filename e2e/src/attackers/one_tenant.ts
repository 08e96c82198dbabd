/** One organization that asks for as much work as its requests may: each endpoint's costliest body, from many connections at once. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { activities, queries } from "../generated/endpoints.ts";
import { keyFrom } from "../key_pairs.ts";
import { ethereum } from "../matrix/keys.ts";
import { assertAccepted, bytesOf, call } from "../wire.ts";
import { type Assault, type Attack, keepOpen, type Target } from "./attack.ts";
import {
  type ActivityPath,
  costliestParameters,
  costliestQuestions,
  type Ground,
  type QueryPath,
} from "./costliest.ts";
import { newNeighbour } from "./neighbour.ts";
import { stampedBy } from "./prepared.ts";

export const floodConnections = 32;

/** A sub-organization of its own, with one of everything. */
export async function newFlooder(target: Target): Promise<{ flooder: Target; ground: Ground }> {
  const flooder = await newNeighbour({ url: target.url, bootstrap: target });
  const { organizationId } = flooder;
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(flooder.apiPrivateKey));
  const ask = async (path: QueryPath, more: object = {}) => {
    const answer = await call(target.url, `/public/v1/query/${path}`, key, { organizationId, ...more });
    assertAccepted(answer);
    return answer.json;
  };
  const act = async (path: ActivityPath, parameters: object) => {
    const body = envelope(organizationId, path, parameters);
    const answer = await call(target.url, `/public/v1/submit/${path}`, key, body);
    assertAccepted(answer);
    return { id: answer.json.activity.id, result: Object.values(answer.json.activity.result)[0] as Made };
  };
  const { userId } = await ask("whoami");
  const wallet = await act("create_wallet", { walletName: "Flood", accounts: [ethereum, bitcoin] });
  const { walletId } = wallet.result;
  const { account } = await ask("get_wallet_account", { walletId, address: wallet.result.addresses[1] });
  const privateKeys = ["CURVE_P256", "CURVE_SECP256K1"].map((curve) => ({
    privateKeyName: curve,
    curve,
    privateKeyTags: [],
    addressFormats: [],
  }));
  const keys = (await act("create_private_keys", { privateKeys })).result.privateKeys;
  const sample = { organizationId, userId, walletId, address: account.address, publicKey: account.publicKey };
  const ground = { ...sample, p256KeyId: keys[0].privateKeyId, privateKeyId: keys[1].privateKeyId } as Ground;
  const { policyId } = (await act("create_policy", costliestParameters.create_policy(ground, 0))).result;
  const tag = await act("create_user_tag", { userTagName: "Flood", userIds: [] });
  const keyTag = await act("create_private_key_tag", { privateKeyTagName: "Flood", privateKeyIds: [] });
  const made = await act(
    "create_smart_contract_interface",
    costliestParameters.create_smart_contract_interface(ground, 0),
  );
  return {
    flooder,
    ground: {
      ...ground,
      policyId,
      tagId: tag.result.userTagId,
      keyTagId: keyTag.result.privateKeyTagId,
      interfaceId: made.result.smartContractInterfaceId,
      activityId: made.id,
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever an activity made.
type Made = any;

const bitcoin = { ...ethereum, path: "m/84'/0'/0'/0/0", addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" };

let lastMs = 0;

/** Bodies that differ in nothing else differ in their time. */
function envelope(organizationId: string, path: ActivityPath, parameters: object): object {
  lastMs = Math.max(lastMs + 1, Date.now());
  return { type: activities[path].type, timestampMs: String(lastMs), organizationId, parameters };
}

/** Each connection asks again as soon as it is answered. */
export function press(assault: Assault, count: number, next: () => Buffer): void {
  keepOpen(assault, count, (socket) => {
    const ask = (): void => {
      if (!assault.isOver() && socket.writable) socket.write(next());
    };
    socket.on("data", (chunk: Buffer) => {
      for (let at = chunk.indexOf(statusLine); at >= 0; at = chunk.indexOf(statusLine, at + 1)) ask();
    });
    ask();
  });
}

const statusLine = "HTTP/1.1 ";

/** Whatever a flood is answered: what it asks may be done, fail, be refused, or wait too long. */
export const anyAnswer = [200, 400, 401, 403, 404, 409, 413, 429, 501, 503];

function flooding(
  says: string,
  connections: number,
  make: (flooder: Target, ground: Ground) => (turn: number) => Buffer,
  seconds = 10,
): Attack {
  return {
    says: `one organization, ${connections} connections: ${says}`,
    answers: anyAnswer,
    holds: connections,
    ratio: 5,
    measured: { seconds, rounds: 1 },
    async begin(assault) {
      const { flooder, ground } = await newFlooder(assault.target);
      const request = make(flooder, ground);
      let turn = 0;
      press(assault, connections, () => request(++turn));
    },
  };
}

function submitting(path: ActivityPath, connections = floodConnections, seconds?: number): Attack {
  const make = (flooder: Target, ground: Ground) => (turn: number) => {
    const body = envelope(flooder.organizationId, path, costliestParameters[path](ground, turn));
    return stampedBy(flooder, `/public/v1/submit/${path}`, bytesOf(body));
  };
  return flooding(`the costliest ${path}`, connections, make, seconds);
}

function querying(path: QueryPath): Attack {
  return flooding(`the costliest ${path}`, floodConnections, (flooder, ground) => {
    // The same question may be asked again and again: the attacker's own work is next to nothing.
    const request = stampedBy(flooder, `/public/v1/query/${path}`, {
      organizationId: flooder.organizationId,
      ...costliestQuestions[path](ground, 0),
    });
    return () => request;
  });
}

/** As many payloads as are taken at once: large bodies, which are read by turns and take the signer long. */
function largePayloads(connections: number, seconds: number): Attack {
  const path = "sign_raw_payloads";
  const make = (flooder: Target, ground: Ground) => (turn: number) => {
    const bare = costliestParameters[path](ground, turn);
    const payloads = Array.from({ length: 1_000 }, (_, index) => index.toString(16).padStart(64, "0"));
    const body = envelope(flooder.organizationId, path, { ...bare, payloads });
    return stampedBy(flooder, `/public/v1/submit/${path}`, bytesOf(body));
  };
  const says = `the longest ${path}, while honest clients have large bodies too`;
  return { ...flooding(says, connections, make, seconds), againstLarge: true };
}

type FloodName = "payloads flood" | "accounts flood" | "large payloads flood";
type CostliestName = `costliest ${ActivityPath | QueryPath}`;

/** Each stopped everybody once, the last one everybody with a large body. */
export const tenantFloods: Record<FloodName, Attack> = {
  "payloads flood": submitting("sign_raw_payloads", 16, 60),
  "accounts flood": submitting("create_wallet_accounts", floodConnections, 60),
  "large payloads flood": largePayloads(floodConnections, 60),
};

export const costliestAttacks = Object.fromEntries([
  ...Object.keys(activities).map((path) => [`costliest ${path}`, submitting(path as ActivityPath)]),
  ...Object.keys(queries).map((path) => [`costliest ${path}`, querying(path as QueryPath)]),
]) as Record<CostliestName, Attack>;
