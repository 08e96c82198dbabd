/**
 * What sign-ups through the auth proxy and logins by identity tokens cost, beside their bare cryptography and one durable insert. Each
 * sign-up brings a passkey and gets a wallet; each login is one of the first root user, by a token of an issuer on this machine.
 */
import type { Load } from "./load.ts";
import { accountOf, measureJob, type PhaseResult, type Subject, summarise } from "./measure.ts";
import { bareIdentityLoginUs, bareSignUpUs } from "./sign_up_baselines.ts";
import { median } from "./statistics.ts";

const connections = 16;

const bareOf = { sign_up: bareSignUpUs, oauth_login: bareIdentityLoginUs } as const;
type Endpoint = keyof typeof bareOf;

export type SignInPlan = { rounds: number; warmUpRequests: number; requests: number; baselineSeconds: number };

export type SignInReport = readonly { endpoint: Endpoint; phase: PhaseResult; bareUs: number; ratio: number }[];

export async function measureSignIns(
  load: Load,
  { server, database, baselines }: Subject,
  { rounds, warmUpRequests, requests, baselineSeconds }: SignInPlan,
  say: (progress: string) => void,
): Promise<SignInReport> {
  const { userId, authProxyConfigId } = server.bootstrap;
  const common = { account: accountOf(server), connections, seconds: 600, userId, authProxyConfigId };
  await load.run({ ...common, endpoint: "create_oauth_providers", connections: 1, requests: 1 });
  const reports = [];
  for (const endpoint of Object.keys(bareOf) as Endpoint[]) {
    const measured: { phase: PhaseResult; bareUs: number }[] = [];
    for (let round = 0; round <= rounds; round++) {
      say(`${database.name}: ${endpoint}, round ${round} of ${rounds}`);
      const isWarmUp = round === 0;
      const insertUs = isWarmUp ? 0 : (await baselines.measure()).insert.clientUs;
      const job = { ...common, endpoint, requests: isWarmUp ? warmUpRequests : requests };
      const { phase } = await measureJob(load, database, server, job);
      if (!isWarmUp) measured.push({ phase, bareUs: bareOf[endpoint](baselineSeconds) + insertUs });
    }
    reports.push({
      endpoint,
      phase: summarise(measured.map(({ phase }) => phase)),
      bareUs: median(measured.map(({ bareUs }) => bareUs)),
      ratio: median(measured.map(({ phase, bareUs }) => (phase.gatewayUs + phase.signerUs) / bareUs)),
    });
  }
  return reports;
}

export function signInLines(databases: readonly { database: string; signIns: SignInReport }[]): string[] {
  return [
    "Sign-ups with a passkey and a wallet through the auth proxy, and logins by an RS256 identity token, at 16 connections: CPU",
    "microseconds per request. `ratio`: gateway and signer over the bare cryptography of such a request and one durable insert.",
    "",
    ...databases.flatMap(({ database, signIns }) =>
      signIns.map(({ endpoint, phase, bareUs, ratio }) => {
        const { requestsPerSecond, p99Ms, gatewayUs, signerUs } = phase;
        return (
          `${database.padEnd(10)}${endpoint.padEnd(14)}${requestsPerSecond.toFixed(0)} per second, p99 ${p99Ms.toFixed(2)} ms  ` +
          `gateway ${gatewayUs.toFixed(0)}  signer ${signerUs.toFixed(0)}  bare ${bareUs.toFixed(0)}  ratio ${ratio.toFixed(2)}`
        );
      }),
    ),
  ];
}
