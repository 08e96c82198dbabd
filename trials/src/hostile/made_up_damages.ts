/** Rows of tables that the story leaves empty: they are put in by whoever writes to the database. */
import { askedAnew, byOrganization, type Damage, hugeLength, leadsOn, ofARace, onItsWayOut } from "./damage.ts";

/** Nothing waits for its release while all is well, so marks are made up. */
const markDamages: Damage[] = [
  {
    name: "unreleased: a released leaf is marked as waiting",
    table: "unreleased",
    what: "a released leaf is marked as waiting",
    found: { nowhere: "it is released once more, with the same result" },
    async apply(raw, { targetOrganization }, _donor, random) {
      const leaf = random.pick(await raw.rows("leaves", targetOrganization.organizationId));
      const { organization_id = "", boot = "", number = 0 } = leaf;
      return raw.insert("unreleased", { organization_id, boot, number });
    },
  },
  {
    name: "unreleased: a leaf is marked as waiting that is not there",
    table: "unreleased",
    what: "a leaf is marked as waiting that is not there",
    found: "check-database",
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("unreleased", {
        organization_id: targetOrganization.organizationId,
        boot: "00".repeat(16),
        number: random.below(1_000),
      }),
  },
  {
    name: "unreleased: a changed leaf is marked as waiting",
    table: "unreleased",
    what: "a changed leaf is marked as waiting",
    found: "check-database",
    async apply(raw, { targetOrganization }, _donor, random) {
      const leaf = random.pick(await raw.rows("leaves", targetOrganization.organizationId));
      const { organization_id = "", boot = "", number = 0 } = leaf;
      await raw.update(
        "leaves",
        leaf,
        "leaf",
        random.pick([new Uint8Array(hugeLength), new Uint8Array(300), new Uint8Array()]),
      );
      return raw.insert("unreleased", { organization_id, boot, number });
    },
  },
];

/** No activity of the story sends a message, so messages are made up, too. */
const messageDamages: Damage[] = [
  {
    name: "outbox: a message is put in that the signer did not seal",
    table: "outbox",
    what: "a message is put in that the signer did not seal",
    found: onItsWayOut,
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("outbox", {
        organization_id: targetOrganization.organizationId,
        message_id: `${random.below(1_000_000)}`,
        activity_id: "",
        channel: random.pick(["email", "sms", ""]),
        sealed: random.pick([new Uint8Array(hugeLength), new Uint8Array(1_089), new Uint8Array(), null]),
        state: "PENDING",
        attempts: random.below(3),
        next_attempt_at_ms: 0,
        claimed_by: null,
        error: null,
        expires_at_ms: random.pick([0, Number.MAX_SAFE_INTEGER]),
        created_at_ms: 0,
        updated_at_ms: 0,
        to_address: random.pick(["user@example.com", "", null]),
        from_address: null,
      }),
  },
];

/** Nor has it a bearer value. */
const bodyDamages: Damage[] = [
  {
    name: "sealed_bodies: a body is put in that the signer did not seal",
    table: "sealed_bodies",
    what: "a body is put in that the signer did not seal",
    found: "check-database",
    async apply(raw, { targetOrganization }, _donor, random) {
      const { organizationId } = targetOrganization;
      const { activity_id = "" } = random.pick(await raw.rows("activities", organizationId));
      return raw.insert("sealed_bodies", {
        organization_id: organizationId,
        activity_id,
        sealed: random.pick([new Uint8Array(hugeLength), new Uint8Array(300), new Uint8Array()]),
        ends_at_ms: random.pick([0, Number.MAX_SAFE_INTEGER]),
      });
    },
  },
];

/** Nor does a stamp of it come with a token. */
const tokenDamages: Damage[] = [
  {
    name: "sealed_disclosures: a token is put in that the signer did not seal",
    table: "sealed_disclosures",
    what: "a token is put in that the signer did not seal",
    found: "check-database",
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("sealed_disclosures", {
        organization_id: targetOrganization.organizationId,
        digest: random.pick(["5e".repeat(32), `${random.below(1_000_000)}`, ""]),
        sealed: random.pick([new Uint8Array(hugeLength), new Uint8Array(300), new Uint8Array()]),
        ends_at_ms: random.pick([0, Number.MAX_SAFE_INTEGER]),
      }),
  },
];

/** Nor does it ask for app proofs. */
const proofDamages: Damage[] = [
  {
    name: "app_proofs: proofs are put in that the signer did not make",
    table: "app_proofs",
    what: "proofs are put in that the signer did not make",
    found: "check-database",
    async apply(raw, { targetOrganization }, _donor, random) {
      const { organizationId } = targetOrganization;
      const { activity_id = "" } = random.pick(await raw.rows("activities", organizationId));
      const { boot = "", number = 0 } = random.pick(await raw.rows("leaves", organizationId));
      return raw.insert("app_proofs", {
        organization_id: organizationId,
        activity_id,
        boot,
        number,
        sealed: random.pick([new Uint8Array(hugeLength), new Uint8Array(300), new Uint8Array()]),
        proofs: random.pick([null, "[]", "{", '[{"proofPayload":"{}"}]']),
      });
    },
  },
  {
    name: "decision_contexts: a context is put in that no digest fits",
    table: "decision_contexts",
    what: "a context is put in that no digest fits",
    found: "check-database",
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("decision_contexts", {
        organization_id: targetOrganization.organizationId,
        digest: `${random.below(1_000_000)}`,
        owner_id: random.pick([targetOrganization.organizationId, ""]),
        content: random.pick([new Uint8Array(hugeLength), Uint8Array.of(1), new Uint8Array()]),
      }),
  },
];

/** Nor have the organizations that are harmed session profiles or an auth proxy: those are made at the top, and these are below. */
const topDamages: Damage[] = [
  {
    name: "session_profiles: a profile is put in that nobody made",
    table: "session_profiles",
    what: "a profile is put in that nobody made",
    found: byOrganization,
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("session_profiles", {
        organization_id: targetOrganization.organizationId,
        session_profile_id: `${random.below(1_000_000)}`,
        session_profile_name: random.pick(["Everything", ""]),
        scope: random.pick(["true", ""]),
        expiration_seconds: random.pick([null, 1, Number.MAX_SAFE_INTEGER]),
        notes: "",
        created_at_ms: 0,
        updated_at_ms: 0,
      }),
  },
  {
    name: "auth_proxies: a configuration is put in that nobody made",
    table: "auth_proxies",
    what: "a configuration is put in that nobody made",
    found: byOrganization,
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("auth_proxies", {
        organization_id: targetOrganization.organizationId,
        config_id: `${random.below(1_000_000)}`,
        user_id: random.pick([targetOrganization.organizationId, ""]),
        settings: random.pick(["{}", "", "{"]),
        created_at_ms: 0,
        updated_at_ms: 0,
      }),
  },
];

/** Nobody signs up in the story. */
const claimDamages: Damage[] = [
  {
    name: "sign_up_claims: a made-up claim is put in",
    table: "sign_up_claims",
    what: "a made-up claim is put in",
    found: ofARace,
    apply: (raw, { targetOrganization: { organizationId } }) =>
      raw.insert("sign_up_claims", {
        organization_id: organizationId,
        identity: "made up",
        sub_organization_id: organizationId,
        created_at_ms: Date.now(),
      }),
  },
];

/** No user verifies a contact in the story, and a claim alone leads to none. */
const contactDamages: Damage[] = [
  {
    name: "contact_claims: a made-up claim is put in",
    table: "contact_claims",
    what: "a made-up claim is put in",
    found: leadsOn,
    apply: (raw, { targetOrganization: { organizationId } }) =>
      raw.insert("contact_claims", {
        organization_id: organizationId,
        kind: "email",
        contact: "made-up@example.com",
        sub_organization_id: organizationId,
        user_id: organizationId,
        proof: "KEY",
        created_at_ms: Date.now(),
      }),
  },
];

/** There is one host in the story. */
const statementDamages: Damage[] = [
  {
    name: "log_statements: a statement is put in that nobody asked for",
    table: "log_statements",
    what: "a statement is put in that nobody asked for",
    found: askedAnew,
    apply: (raw, { targetOrganization: { organizationId } }) =>
      raw.insert("log_statements", {
        organization_id: organizationId,
        log_id: "0".repeat(32),
        ask: "made up",
        is_asked: 0,
        statement: "made up",
        logs: "{}",
        created_at_ms: Date.now(),
      }),
  },
];

export const madeUpDamages: readonly Damage[] = [
  ...markDamages,
  ...messageDamages,
  ...bodyDamages,
  ...tokenDamages,
  ...proofDamages,
  ...topDamages,
  ...claimDamages,
  ...contactDamages,
  ...statementDamages,
];

/** Tables with no other damages. */
export const madeUpTables: ReadonlySet<string> = new Set(madeUpDamages.map(({ table }) => table));
