/**
 * What a stamp by a passkey costs: the same signatures, stamped by an ES256 passkey and by a P-256 API key of the same root user. Both
 * in turn, on one server and in one organization.
 */
import { randomBytes } from "node:crypto";
import type { Transport } from "@keystead/core/webauthn/transports.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import type { GuardedPlan } from "./guarded.ts";
import type { Load } from "./load.ts";
import { accountOf, measureJob, type PhaseResult, type Subject, summarise } from "./measure.ts";
import type { Figure } from "./policy_report.ts";
import { median } from "./statistics.ts";

const connections = 16;
/** Of what the API key's stamp costs. */
const target = 1.25;

const stampers = ["apiKey", "passkey"] as const;

type StampedBy = (typeof stampers)[number];

/** The same phase by either, each the median of its rounds; `ratio` is the median of what each round says. */
export type PasskeyReport = Record<StampedBy, PhaseResult> & { ratio: number };

export async function measurePasskey(
  load: Load,
  { server, database, signWith }: Subject,
  { warmUpRequests, rounds, requests }: GuardedPlan,
  say: (progress: string) => void,
): Promise<PasskeyReport> {
  const account = accountOf(server);
  const secret = randomBytes(32);
  const { organizationId, apiPublicKey, apiPrivateKey } = account;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const root = createClient({ baseUrl: server.url, organizationId, stamper });
  const { attestation, ...params } = authenticatorParams(createPasskey(secret));
  const transports = attestation.transports as Transport[];
  const { userId } = await root.whoami();
  await root.createAuthenticators({
    userId,
    authenticators: [{ ...params, attestation: { ...attestation, transports } }],
  });
  const accounts = { apiKey: account, passkey: { ...account, passkeySecret: secret.toString("hex") } };
  const phases: Record<StampedBy, PhaseResult[]> = { apiKey: [], passkey: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const by of round % 2 === 0 ? stampers : stampers.toReversed()) {
      say(`${database.name}: sign_raw_payload stamped by ${by}, round ${round} of ${rounds}`);
      const isWarmUp = round === 0;
      const { phase } = await measureJob(load, database, server, {
        account: accounts[by],
        endpoint: "sign_raw_payload",
        signWith,
        connections,
        seconds: 600,
        requests: isWarmUp ? warmUpRequests : requests,
      });
      if (!isWarmUp) phases[by].push(phase);
    }
  }
  return {
    apiKey: summarise(phases.apiKey),
    passkey: summarise(phases.passkey),
    ratio: median(phases.passkey.map((phase, round) => costOf(phase) / costOf(phases.apiKey[round] ?? phase))),
  };
}

function costOf({ gatewayUs, signerUs }: PhaseResult): number {
  return gatewayUs + signerUs;
}

export function passkeyFigures({ ratio }: PasskeyReport): Figure[] {
  return [["ratio of a signature stamped by a passkey", ratio, target]];
}

export function passkeyLines(databases: readonly { database: string; passkey: PasskeyReport }[]): string[] {
  return [
    "A signature of a payload at 16 connections, stamped by an ES256 passkey and by a P-256 API key of the same user: CPU",
    "microseconds of gateway and signer per request. `ratio`: the passkey's over the key's, in the same round.",
    "",
    ...databases.map(({ database, passkey: report }) => {
      const [key, passkey] = [report.apiKey, report.passkey].map((phase) => costOf(phase).toFixed(0));
      return `${database.padEnd(10)}key ${key}  passkey ${passkey}  ratio ${report.ratio.toFixed(2)}  (target ${target})`;
    }),
  ];
}
