/**
 * What policies add to signing: ten of them, and the same requests by a root user, whom they do not bind, and by another user,
 * whom one of them allows. Both callers in turn, on one server and in one organization.
 */
import { type Client, createApiKeyStamper, createClient, generateApiKey } from "@keystead/sdk";
import { abiText, token, unsignedTransfer } from "./erc20.ts";
import type { Load } from "./load.ts";
import type { Job } from "./load_messages.ts";
import { accountOf, measureJob, type PhaseResult, type Subject, summarise } from "./measure.ts";
import { payloads, policyTexts, transfers } from "./policy_texts.ts";
import type { Account } from "./presign.ts";
import { median } from "./statistics.ts";

export const policyCount = 10;
const connections = 16;

export const guardedEndpoints = ["sign_raw_payload", "sign_transaction"] as const;
export type GuardedEndpoint = (typeof guardedEndpoints)[number];

const callers = ["root", "member"] as const;

type Caller = (typeof callers)[number];

/** The same phase by either caller, each the median of its rounds. */
export type GuardedReport = { endpoint: GuardedEndpoint } & Record<Caller, PhaseResult> & {
    /** What the member costs gateway and signer over what the root user does: the median of what each round says. */
    ratio: number;
  };

/** Phases are counted in requests: the compilers settle by how often something runs, however slow the host is. */
export type GuardedPlan = { warmUpRequests: number; rounds: number; requests: number };

type Asked = {
  /** What the ten are about. */
  policies(userId: string, signWith: string): ReturnType<typeof policyTexts>;
  /** Completes one: a phase of requests that wait for consensus would look like one of signatures. */
  signOnce(client: Client, signWith: string): Promise<unknown>;
};

const asked: Record<GuardedEndpoint, Asked> = {
  sign_raw_payload: {
    policies: (userId, signWith) => policyTexts(policyCount, payloads, userId, signWith),
    signOnce: (client, signWith) =>
      client.signRawPayload({
        signWith,
        payload: "00".repeat(32),
        encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
        hashFunction: "HASH_FUNCTION_NO_OP",
      }),
  },
  sign_transaction: {
    policies: (userId) => policyTexts(policyCount, transfers, userId, token),
    signOnce: (client, signWith) =>
      client.signTransaction({
        signWith,
        unsignedTransaction: unsignedTransfer(),
        type: "TRANSACTION_TYPE_ETHEREUM",
      }),
  },
};

export async function measureGuarded(
  load: Load,
  subject: Subject,
  { warmUpRequests, rounds, requests }: GuardedPlan,
  say: (progress: string) => void,
): Promise<GuardedReport[]> {
  const { server, database, signWith } = subject;
  const [address = ""] = signWith;
  const accounts = { root: accountOf(server), member: { ...accountOf(server), ...generateApiKey() } };
  const root = clientOf(server.url, accounts.root);
  const member = clientOf(server.url, accounts.member);
  const userId = await addMember(root, accounts.member);
  await root.createSmartContractInterface({
    smartContractAddress: token,
    smartContractInterface: abiText,
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
    label: "Token",
  });
  const reports: GuardedReport[] = [];
  for (const endpoint of guardedEndpoints) {
    const texts = asked[endpoint].policies(userId, address);
    const policies = texts.map((text, index) => ({ policyName: `bench ${index}`, ...text }));
    const { policyIds } = await root.createPolicies({ policies });
    await asked[endpoint].signOnce(member, address);
    const phases: Record<Caller, PhaseResult[]> = { root: [], member: [] };
    for (let round = 0; round <= rounds; round++) {
      for (const caller of round % 2 === 0 ? callers : callers.toReversed()) {
        say(`${database.name}: ${endpoint} under policies by ${caller}, round ${round} of ${rounds}`);
        const isWarmUp = round === 0;
        const job: Job = {
          account: accounts[caller],
          endpoint,
          signWith,
          connections,
          seconds: 600,
          requests: isWarmUp ? warmUpRequests : requests,
        };
        const { phase } = await measureJob(load, database, server, job);
        if (!isWarmUp) phases[caller].push(phase);
      }
    }
    reports.push({
      endpoint,
      root: summarise(phases.root),
      member: summarise(phases.member),
      ratio: median(phases.member.map((phase, round) => costOf(phase) / costOf(phases.root[round] ?? phase))),
    });
    await root.deletePolicies({ policyIds });
  }
  return reports;
}

function costOf({ gatewayUs, signerUs }: PhaseResult): number {
  return gatewayUs + signerUs;
}

async function addMember(root: Client, { apiPublicKey }: Account): Promise<string> {
  const apiKey = { apiKeyName: "bench", publicKey: apiPublicKey, curveType: "API_KEY_CURVE_P256" } as const;
  const user = { userName: "Member", apiKeys: [apiKey], authenticators: [], oauthProviders: [], userTags: [] };
  const { userIds } = await root.createUsers({ users: [user] });
  return userIds[0] ?? "";
}

function clientOf(baseUrl: string, { organizationId, apiPublicKey, apiPrivateKey }: Account): Client {
  return createClient({ baseUrl, organizationId, stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }) });
}
