/** What one damage is, and where it shows afterwards. A table or a column that is missing in `found` does not compile. */
import { maxFrameLength } from "@keystead/server/frames/frame.ts";
import { type TableName, tables } from "@keystead/server/store/tables.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import type { TargetOrganization } from "../../../server/test/hostile_story.ts";
import type { RawDatabase, Snapshot } from "./raw_database.ts";

/** An organization that something is done to, and what its rows were in the middle of its story. */
export type Patient = { targetOrganization: TargetOrganization; before: Snapshot };

/** Which command names the organization afterwards; or why none can. */
export type Found = "check-database" | "check-log" | { nowhere: string };

export type Damage = {
  name: string;
  table: TableName;
  /** Unless it is done to whole rows. */
  column?: string;
  /** Which kind of damage it is, whatever the table. */
  what: string;
  found: Found;
  /** False when there is nothing to do it to, or the table itself does not let it be. */
  apply(raw: RawDatabase, patient: Patient, donor: Patient, random: Random): Promise<boolean>;
};

export const byOrganization = "check-database" as const;
const unauthentic = { nowhere: "nothing that the signer wrote tells of it, and no decision reads it" };
const opened = { nowhere: "a result that was released is never opened again" };
const releasedAgain = { nowhere: "a released leaf that is marked as waiting is released once more" };
const unnamed = { nowhere: "bytes that no leaf names are shown to nobody" };
const oneDay = { nowhere: "a key of a client stands for a request for a day, and no page knows it" };

export const ofARace = { nowhere: "a claim settles races between gateways, which are over in seconds" };
export const leadsOn = {
  nowhere: "a contact leads only to a user who has it verified, and those of the story have none",
};
export const askedAnew = { nowhere: "statements are signed: whoever gets one checks it, and each is asked for anew" };
const counted = { nowhere: "how much was refused decides on nothing but what is stored of further refusals" };

const shortLived = {
  nowhere: "a code lasts ten minutes at most: its record has the signer's mark, and its memory counts too",
};
const told = { nowhere: "what became of mail is the gateway's own word, and no decision reads it" };
const untilItEnds = {
  nowhere: "no activity of the story has a bearer value; `check_bodies.test.ts` changes such rows",
};
const untilTheTokenEnds = {
  nowhere: "no stamp of the story comes with a token; `stamp_tokens.test.ts` changes such rows",
};
const unproven = {
  nowhere: "no activity of the story asks for app proofs; `check_app_proofs.test.ts` changes such rows",
};
const ofNoOrganization = { nowhere: "it belongs to no organization: `check_public_log.test.ts` changes such rows" };
export const onItsWayOut = { nowhere: "a message is sealed, is sent once or fails, and no decision reads it" };

const signedItself = {
  nowhere: "a start is the first organization's: `check_boot_proofs.test.ts` changes such rows",
};

/** Where a change of each column shows. */
export const found = {
  organizations: all("organizations", byOrganization),
  pages: all("pages", byOrganization),
  // A leaf that is somewhere else is missing here, and that of a birth tells of no activity.
  leaves: { ...all("leaves", byOrganization), organization_id: "check-log", sealed: opened },
  disclosures: all("disclosures", byOrganization),
  sealed_disclosures: all("sealed_disclosures", untilTheTokenEnds),
  unreleased: all("unreleased", releasedAgain),
  activities: { ...all("activities", byOrganization), evaluations: unauthentic, explanation: unauthentic },
  sealed_bodies: all("sealed_bodies", untilItEnds),
  app_proofs: all("app_proofs", unproven),
  decision_contexts: all("decision_contexts", unproven),
  votes: { ...all("votes", byOrganization), evaluations: unauthentic, explanation: unauthentic },
  otp_codes: all("otp_codes", shortLived),
  otp_attempts: all("otp_attempts", shortLived),
  idempotency_keys: all("idempotency_keys", oneDay),
  refused_bytes: all("refused_bytes", counted),
  sign_up_claims: all("sign_up_claims", ofARace),
  contact_claims: all("contact_claims", leadsOn),
  outbox: all("outbox", onItsWayOut),
  email_events: all("email_events", told),
  users: all("users", byOrganization),
  credentials: all("credentials", byOrganization),
  user_tags: all("user_tags", byOrganization),
  wallets: all("wallets", byOrganization),
  wallet_accounts: all("wallet_accounts", byOrganization),
  private_keys: {
    ...all("private_keys", byOrganization),
    updated_at_ms: {
      nowhere: "no page says when a key was last tagged: a later time than its facts' is as good as any",
    },
  },
  private_key_addresses: all("private_key_addresses", byOrganization),
  private_key_tags: all("private_key_tags", byOrganization),
  policies: all("policies", byOrganization),
  contract_interfaces: all("contract_interfaces", byOrganization),
  session_profiles: all("session_profiles", byOrganization),
  auth_proxies: all("auth_proxies", byOrganization),
  log_runs: all("log_runs", byOrganization),
  log_entries: all("log_entries", ofNoOrganization),
  log_tiles: all("log_tiles", ofNoOrganization),
  logs: all("logs", ofNoOrganization),
  log_statements: all("log_statements", askedAnew),
  boot_proofs: all("boot_proofs", signedItself),
  loaded_files: all("loaded_files", signedItself),
  deployment: all("deployment", { nowhere: "it belongs to no organization: see the test of its own" }),
} as const satisfies { [T in TableName]: Record<keyof (typeof tables)[T], Found> };

function all<T extends TableName>(table: T, where: Found): Record<keyof (typeof tables)[T], Found> {
  const columns = Object.keys(tables[table]).map((column) => [column, where]);
  return Object.fromEntries(columns) as Record<keyof (typeof tables)[T], Found>;
}

const whoItWas = {
  nowhere: "a leaf says who voted, with which key, on what and when, but not what the voter was called then",
};

/** Columns of which one letter may be changed unseen. */
export const partlyFound: Readonly<Record<string, Found>> = { "votes.vote": whoItWas, "activities.votes": whoItWas };

/** Where a whole row shows that is gone, or that should not be there; and a table as it was before, unless it shows as what is gone. */
export const rowFound: { readonly [T in TableName]?: { removed?: Found; added?: Found; before?: Found } } = {
  // The leaf of a birth tells of no activity.
  leaves: { removed: "check-log" },
  disclosures: { added: unnamed },
  sealed_disclosures: { removed: untilTheTokenEnds, added: untilTheTokenEnds },
  // Whatever was on its way out when the story paused has been released since.
  unreleased: { added: releasedAgain, before: releasedAgain },
  sealed_bodies: { removed: untilItEnds, added: untilItEnds },
  app_proofs: { removed: unproven, added: unproven },
  decision_contexts: { removed: unproven, added: unproven },
  otp_codes: { removed: shortLived, added: shortLived },
  otp_attempts: { removed: shortLived, added: shortLived },
  idempotency_keys: { removed: oneDay, added: oneDay },
  sign_up_claims: { removed: ofARace, added: ofARace },
  contact_claims: { added: leadsOn },
  log_statements: { removed: askedAnew, added: askedAnew },
  refused_bytes: { removed: counted, added: counted },
  outbox: { removed: onItsWayOut, added: onItsWayOut },
  email_events: { removed: told, added: told },
  boot_proofs: { removed: signedItself, added: signedItself },
  loaded_files: { removed: signedItself, added: signedItself },
};

/** Longer than any frame. */
export const hugeLength = maxFrameLength + 1024;
