/**
 * Which suites run when. `npm test` is for every change and takes at most five minutes on two cores; `npm run test:all` runs
 * the long suites, and only those, so that CI runs each suite once. A new suite belongs to `npm test` until it is listed here.
 */
import { findTestFiles } from "./packages.ts";

export const tiers = ["quick", "long"] as const;
export type Tier = (typeof tiers)[number];

/**
 * The least number of tests in each tier. Raise it with the suites: a pattern that matches nothing, or a file that dies
 * early, must not pass for success.
 */
export const minimumTests: Readonly<Record<Tier, number>> = { quick: 4200, long: 2500 };

/** Files, or folders with everything in them. */
export const longSuites: readonly string[] = [
  // Random samples. Their sizes are in core/test/samples.ts.
  "core/src/chains/parsers.fuzz.test.ts",
  "core/src/crypto/eip712.fuzz.test.ts",
  "core/src/oidc/oidc.fuzz.test.ts",
  "core/src/otp/otp.fuzz.test.ts",
  "core/src/policy/decision/allow_list.fuzz.test.ts",
  "core/src/policy/decision/decision.fuzz.test.ts",
  "core/src/policy/evaluation/differential.fuzz.test.ts",
  "core/src/policy/interfaces/abi.fuzz.test.ts",
  "core/src/policy/language/parser.fuzz.test.ts",
  "core/src/webauthn/simplewebauthn.fuzz.test.ts",
  "core/src/webauthn/webauthn.fuzz.test.ts",
  "server/src/activities/invariants.fuzz.test.ts",
  "server/src/curves/otp_attempts.fuzz.test.ts",
  "server/src/gateway/submit/consensus.test.ts",
  "server/src/gateway/submit/policy_consensus.test.ts",
  "server/src/signer/consensus_permutations.test.ts",
  "server/src/signer/hostile/hostile_pages.test.ts",
  "server/src/signer/hostile/hostile_recorded.test.ts",
  "server/src/signer/hostile/hostile_twins.test.ts",
  "server/src/signer/swap_matrix.test.ts",
  "e2e/src/requests.fuzz.test.ts",
  "e2e/src/authorisation",
  // It waits for a minute to pass: an issuer is not asked again sooner.
  "e2e/src/identity/openid_sign_in.test.ts",
  "e2e/src/passkeys.test.ts",
  "e2e/src/policy_rows.test.ts",

  // Crashes, power cuts, hostile databases, races and histories.
  "trials/src/codes",
  "trials/src/crash/crash.test.ts",
  "trials/src/crash/crash_matrix_postgres.test.ts",
  "trials/src/crash/crash_matrix_sqlite.test.ts",
  "trials/src/crash/first_start.test.ts",
  "trials/src/crash/postgres_stops.test.ts",
  "trials/src/history/history.test.ts",
  "trials/src/issuers/key_rotation.test.ts",
  "trials/src/issuers/rotation_under_load.test.ts",
  "trials/src/hostile",
  "trials/src/power",
  "trials/src/races",
  "trials/src/secrets/secret_scan.test.ts",
  "trials/src/sign_ups",
  "trials/src/two_gateways.test.ts",

  // Real servers that are attacked, broken, killed or set back, many times each.
  "e2e/src/check_log.test.ts",
  "e2e/src/descriptors.test.ts",
  "e2e/src/faults",
  "e2e/src/listen.test.ts",
  "e2e/src/npm_start.test.ts",
  "e2e/src/repeats.test.ts",
  "trials/src/attackers",
  "trials/src/copied_key.test.ts",
  "trials/src/courier/courier_kills.test.ts",
  "trials/src/courier/exchange_kills.test.ts",
  "trials/src/faults",
  "trials/src/refusals_stored.test.ts",
  "trials/src/restart.test.ts",
  "trials/src/rotate_keys.test.ts",
  "trials/src/upgrade",
  "server/src/gateway/operator",
  "server/src/gateway/submit/changed_rows.test.ts",
  "server/src/launcher/launch.test.ts",
  "server/src/launcher/root_key.test.ts",

  // Whole tours by published clients, the guides and the command line.
  "cli/src/log.test.ts",
  "cli/src/main.test.ts",
  "cli/src/policy_apply.test.ts",
  "cli/src/proof_verify.test.ts",
  "cli/src/witness.test.ts",
  "e2e/src/app_proofs.test.ts",
  "e2e/src/auth_proxy.test.ts",
  "e2e/src/browser",
  "e2e/src/keys/keys.test.ts",
  "e2e/src/log_export.test.ts",
  "e2e/src/log_hosts.test.ts",
  "e2e/src/log_restored.test.ts",
  "e2e/src/matrix/matrix_postgres.test.ts",
  "e2e/src/matrix/matrix_sqlite.test.ts",
  "e2e/src/moved_proofs.test.ts",
  "e2e/src/proof_files.test.ts",
  "e2e/src/published/published.test.ts",
  "e2e/src/quickstart.test.ts",
  "e2e/src/requests.test.ts",
  "e2e/src/session_scope.test.ts",
  "e2e/src/treasury.test.ts",
  "e2e/src/witnessed_log.test.ts",
  "server/src/activities/import_export.published_client.test.ts",
];

export function isIn(file: string, entry: string): boolean {
  return file === entry || file.startsWith(`${entry}/`);
}

export function tierOf(file: string): Tier {
  return longSuites.some((entry) => isIn(file, entry)) ? "long" : "quick";
}

export function filesOf(tier: Tier): string[] {
  return findTestFiles().filter((file) => tierOf(file) === tier);
}
