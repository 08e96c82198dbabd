/**
 * What a stamp by a passkey costs: the same signatures, stamped by an ES256 passkey and by a P-256 API key of the same root user. Both
 * in turn, on one server and in one organization. Once in the first organization, and once in a sub-organization, where applications
 * have their users: there the signer also reads which origins the parent allows.
 */
import { randomBytes } from "node:crypto";
import type { Transport } from "@keystead/core/webauthn/transports.ts";
import { authenticatorParams, createPasskey, type Passkey } from "@keystead/e2e/passkeys.ts";
import { type Client, createApiKeyStamper, createClient, generateApiKey } from "@keystead/sdk";
import type { GuardedPlan } from "./guarded.ts";
import type { Load } from "./load.ts";
import { accountOf, measureJob, type PhaseResult, type Subject, summarise } from "./measure.ts";
import type { Figure } from "./policy_report.ts";
import { type Account, ethereumAccount } from "./presign.ts";
import { median } from "./statistics.ts";

const connections = 16;
/** Of what the API key's stamp costs. */
const target = 1.25;

const stampers = ["apiKey", "passkey"] as const;

type StampedBy = (typeof stampers)[number];

const places = ["first organization", "sub-organization"] as const;

type Place = (typeof places)[number];

/** The same phase by either, each the median of its rounds; `ratio` is the median of what each round says. */
type PlaceReport = Record<StampedBy, PhaseResult> & { place: Place; ratio: number };

export type PasskeyReport = readonly PlaceReport[];

/** Whose requests are measured: the key stamps, or with a secret the passkey. */
type Signer = { account: Account; signWith: readonly string[] };

export async function measurePasskey(
  load: Load,
  subject: Subject,
  plan: GuardedPlan,
  say: (progress: string) => void,
): Promise<PasskeyReport> {
  const reports: PlaceReport[] = [];
  for (const place of places) {
    const secret = randomBytes(32);
    const passkey = createPasskey(secret);
    const signer = await (place === "first organization" ? inFirst(subject, passkey) : inNew(subject, passkey));
    const by = { apiKey: signer.account, passkey: { ...signer.account, passkeySecret: secret.toString("hex") } };
    reports.push({
      place,
      ...(await measureBoth(load, subject, signer.signWith, by, plan, (done) => say(`${place}: ${done}`))),
    });
  }
  return reports;
}

/** The first root user gets a passkey. */
async function inFirst({ server, signWith }: Subject, passkey: Passkey): Promise<Signer> {
  const account = accountOf(server);
  const root = clientOf(server.url, account);
  const { userId } = await root.whoami();
  await root.createAuthenticators({ userId, authenticators: [registrationOf(passkey)] });
  return { account, signWith };
}

/** A sub-organization whose root user has a key and a passkey. */
async function inNew({ server }: Subject, passkey: Passkey): Promise<Signer> {
  const first = accountOf(server);
  const { apiPublicKey, apiPrivateKey } = generateApiKey();
  const apiKey = { apiKeyName: "bench", publicKey: apiPublicKey, curveType: "API_KEY_CURVE_P256" } as const;
  const user = { userName: "Root", apiKeys: [apiKey], authenticators: [registrationOf(passkey)], oauthProviders: [] };
  const { subOrganizationId, wallet } = await clientOf(server.url, first).createSubOrganization({
    subOrganizationName: "Bench",
    rootUsers: [user],
    rootQuorumThreshold: 1,
    wallet: { walletName: "Bench", accounts: [ethereumAccount] },
  });
  const account = { ...first, organizationId: subOrganizationId, apiPublicKey, apiPrivateKey };
  return { account, signWith: wallet?.addresses ?? [] };
}

function registrationOf(passkey: Passkey) {
  const { attestation, ...params } = authenticatorParams(passkey);
  return { ...params, attestation: { ...attestation, transports: attestation.transports as Transport[] } };
}

function clientOf(baseUrl: string, { organizationId, apiPublicKey, apiPrivateKey }: Account): Client {
  return createClient({ baseUrl, organizationId, stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }) });
}

async function measureBoth(
  load: Load,
  { server, database }: Subject,
  signWith: readonly string[],
  accounts: Record<StampedBy, Account>,
  { warmUpRequests, rounds, requests }: GuardedPlan,
  say: (progress: string) => void,
): Promise<Omit<PlaceReport, "place">> {
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

export function passkeyFigures(report: PasskeyReport): Figure[] {
  return report.map(({ place, ratio }) => [`ratio of a signature stamped by a passkey, ${place}`, ratio, target]);
}

export function passkeyLines(databases: readonly { database: string; passkey: PasskeyReport }[]): string[] {
  const rows = databases.flatMap(({ database, passkey }) => passkey.map((report) => ({ database, ...report })));
  return [
    "A signature of a payload at 16 connections, stamped by an ES256 passkey and by a P-256 API key of the same user: CPU",
    "microseconds of gateway and signer per request. `ratio`: the passkey's over the key's, in the same round.",
    "",
    ...rows.map(({ database, place, ratio, ...by }) => {
      const [key, passkey] = [by.apiKey, by.passkey].map((phase) => costOf(phase).toFixed(0));
      const name = `${database.padEnd(10)}${place.padEnd(20)}`;
      return `${name}key ${key}  passkey ${passkey}  ratio ${ratio.toFixed(2)}  (target ${target})`;
    }),
  ];
}
