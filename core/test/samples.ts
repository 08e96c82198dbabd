/**
 * How much each random suite does: a sample in a test run, and the full count when `npm run figures` sets KEYSTEAD_FIGURES=1.
 * KEYSTEAD_SAMPLES=crashKills=20,powerCuts=50 overrides single ones by name, to look for something or to repeat a run.
 */

/** Full counts also demand what only many trials reach. */
export const isFull = process.env.KEYSTEAD_FIGURES === "1";

const rows = {
  // Pure code: rounds, unless the name says otherwise.
  bentTransactions: { sample: 60_000, full: 5_000_000 },
  typedDocuments: { sample: 20_000, full: 500_000 },
  typedDocumentComparisons: { sample: 200, full: 5_000 },
  /** Every such code point. A prime visits every block. */
  codePointStep: { sample: 41, full: 1 },
  markedTexts: { sample: 5_000, full: 200_000 },
  derivations: { sample: 40, full: 1_000 },
  bentKeyTexts: { sample: 20_000, full: 500_000 },
  bitcoinAddresses: { sample: 10, full: 500 },
  mnemonicSentences: { sample: 500, full: 20_000 },
  mnemonicSeedsPerLanguage: { sample: 2, full: 50 },
  policyTexts: { sample: 8_000, full: 300_000 },
  policyExpressions: { sample: 40_000, full: 1_000_000 },
  policyDecisions: { sample: 5_000, full: 100_000 },
  allowListPayments: { sample: 10_000, full: 100_000 },
  abiCalls: { sample: 20_000, full: 1_000_000 },
  idlInstructions: { sample: 20_000, full: 500_000 },
  /** Valid registrations, and as many assertions. */
  webauthnBases: { sample: 40, full: 100 },
  webauthnMutants: { sample: 4_000, full: 100_000 },
  webauthnComparisons: { sample: 400, full: 10_000 },
  otpCodes: { sample: 20_000, full: 1_000_000 },
  /** Of tokens, of client signatures, of attested stamps, and of encrypted attempts. */
  otpMutants: { sample: 1_000, full: 100_000 },
  /** Edits of one export of the log, how many leaves that has at least, and honest exports of their own. */
  exportEdits: { sample: 300, full: 10_000 },
  exportLeaves: { sample: 500, full: 5_000 },
  honestExports: { sample: 20, full: 1_000 },
  /** Of identity tokens, and as many of statements about their issuers. */
  oidcMutants: { sample: 1_000, full: 100_000 },
  /** Of each kind of text of the transparency log. */
  tlogMutants: { sample: 3_000, full: 100_000 },

  // Signer and gateway, in one process.
  otpGuesses: { sample: 500, full: 10_000 },
  activitySequences: { sample: 300, full: 10_000 },
  bentBundles: { sample: 3_000, full: 100_000 },
  /** Three bundles go each way in a round. */
  bundleRounds: { sample: 12, full: 3_334 },
  consensusStories: { sample: 60, full: Number.POSITIVE_INFINITY },
  consensusDepth: { sample: 3, full: 5 },
  consensusWalks: { sample: 100, full: 2_000 },
  consensusWalkLength: { sample: 7, full: 9 },
  bentFrames: { sample: 1_500, full: 10_000 },
  hostileVotes: { sample: 1_000, full: 20_000 },
  hostileFrames: { sample: 1_000, full: 10_000 },
  hostileFramesPerProcess: { sample: 500, full: 1_000 },
  /** In a sample, every activity that makes or draws something in every situation once. */
  twinPreparations: { sample: 0, full: 50_000 },
  logins: { sample: 300, full: 10_000 },
  chosenBodies: { sample: 200, full: 100_000 },
  /** Fetches of a name whose server flips between a public and a private address. Even. */
  rebindings: { sample: 100, full: 1_000 },
  redirectChains: { sample: 60, full: 1_000 },
  rotatedWallets: { sample: 12, full: 200 },
  rotationKills: { sample: 20, full: 200 },

  /** Of a moved clock, in which an issuer replaces its keys again and again. */
  rotationHours: { sample: 4, full: 200 },

  // Real servers.
  /** Of a real OpenID provider's keys; each is up to a minute of waiting. */
  providerRotations: { sample: 1, full: 5 },
  serverRotationWallets: { sample: 6, full: 182 },
  serverRotationKills: { sample: 2, full: 200 },
  serverRotationKillsPerStart: { sample: 2, full: 20 },
  crashKills: { sample: 4, full: 100 },
  crashSeeds: { sample: 1, full: 10 },
  postgresStops: { sample: 3, full: 50 },
  firstStarts: { sample: 2, full: 25 },
  historyOperations: { sample: 1_000, full: 50_000 },
  historyOrganizations: { sample: 20, full: 40 },
  mutants: { sample: 1_500, full: 100_000 },
  mutantRounds: { sample: 1, full: 10 },
  powerCuts: { sample: 8, full: 200 },
  postgresPowerCuts: { sample: 2, full: 20 },
  memoryCuts: { sample: 200, full: 5_000 },
  /** Releases in the history that is cut at random places, and in the one that is cut wherever the disk is waited for. */
  memoryCutReleases: { sample: 1_000, full: 1_000 },
  memoryLossReleases: { sample: 5_000, full: 5_000 },
  launcherKills: { sample: 6, full: 30 },
  twoGatewayRequests: { sample: 240, full: 240 },
  twoGatewayClients: { sample: 16, full: 16 },
  raceTrials: { sample: 6, full: 500 },
  /** Of each kind of sign-ups that have something in common, on each database. */
  signUpRaces: { sample: 2, full: 500 },
  /** Sign-ups with a wallet on each database, and who sign up at the same time. */
  signUps: { sample: 200, full: 10_000 },
  signUpClients: { sample: 12, full: 48 },
  /** Fewer kinds than the full count: a sample takes them in turn, by its seed. */
  racedBodies: { sample: 10, full: 1_000 },
  /** Who send one raced body at once. */
  racedBodySenders: { sample: 50, full: 50 },
  /** Codes that are guessed at, and as many that are answered rightly, on each database. */
  guessedCodes: { sample: 2, full: 10 },
  /** At each code, at once. */
  parallelGuesses: { sample: 60, full: 1_000 },
  codeLogins: { sample: 60, full: 10_000 },
  /** Who sign in at the same time. */
  codeLoginClients: { sample: 12, full: 48 },
  secretRounds: { sample: 8, full: 63 },
  /** In a sample of the hostile database, one organization for each table and one more. */
  damagedOrganizations: { sample: 0, full: 30 },
  attackMs: { sample: 1_500, full: 10_000 },
  /** The server gives a slow sender 20 s, and looks every 5. */
  slowAttackMs: { sample: 27_000, full: 27_000 },
  attackWarmUpMs: { sample: 3_000, full: 10_000 },
  attacksAtOnce: { sample: 4, full: 1 },
  tenantFloodMs: { sample: 8_000, full: 30_000 },
  /** While the signer stands still: how long at least, and how many requests come meanwhile. */
  standstillMs: { sample: 8_000, full: 8_000 },
  standstillRequests: { sample: 200, full: 200 },
} as const satisfies Record<string, { sample: number; full: number }>;

export type SampleName = keyof typeof rows;

/** Counts by name, of `KEYSTEAD_SAMPLES`. */
export function parseSamples(text: string): Partial<Record<SampleName, number>> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", count = ""] = pair.split("=");
      if (!Object.hasOwn(rows, name)) throw new Error(`KEYSTEAD_SAMPLES: there is no sample called \`${name}\``);
      if (!/^[0-9]+$/.test(count)) throw new Error(`KEYSTEAD_SAMPLES: \`${pair}\` is not of the form name=count`);
      return [name, Number(count)];
    }),
  );
}

const chosen = parseSamples(process.env.KEYSTEAD_SAMPLES ?? "");

export const samples = Object.fromEntries(
  Object.entries(rows).map(([name, { sample, full }]) => [
    name,
    chosen[name as SampleName] ?? (isFull ? full : sample),
  ]),
) as Readonly<Record<SampleName, number>>;
