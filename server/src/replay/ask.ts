/** Puts one act before the throw-away signer again: the same bytes, and whatever it misses, as from a gateway. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { decodeIssuerKey, decodeOauth2Identity, type TakenIssuerKey } from "@keystead/core/log/outside_values.ts";
import { makeStatement, type StatementMac } from "@keystead/core/oidc/issuer_statement.ts";
import { finish } from "@keystead/core/work.ts";
import { readBody, readEnvelope } from "../endpoints/envelope.ts";
import type { Prepared, Request, StoredRecord, Wish } from "../frames/messages.ts";
import { activityForms } from "../generated/activities.ts";
import { sealAnswer } from "../outbox/oauth2_order.ts";
import { prepare } from "../signer/decision/prepare.ts";
import type { Signer } from "../signer/decision/signer.ts";
import { slotOf } from "../state/journal.ts";
import { attemptKey, type RecordWish } from "../state/record_wish.ts";
import type { RecordShelf } from "./record_shelf.ts";
import { offer, pageOf, type ReplayState } from "./replay_state.ts";
import { type EvidencePlace, sentForms } from "./sent_evidence.ts";
import { unreleasedIn } from "./told.ts";
import { withoutRecords } from "./without_records.ts";

/** A body that was executed, with the time that it names itself. */
export type Executed = { fingerprint: Uint8Array; timestampMs: number };

export type Question = {
  signer: Signer;
  leaf: Leaf;
  /** What was stamped. */
  body: Uint8Array;
  /** The activity's own body, which a vote names. */
  activityBody: Uint8Array;
  /** The organization that decides, as it was. */
  state: ReplayState;
  organizationId: string;
  records: RecordShelf;
  executed: readonly Executed[];
  /** Before each attempt: what the log tells is told anew. */
  tell(): void;
  /** A state of another organization that the decision read. Throws where there is none. */
  otherState(organizationId: string): ReplayState;
  /** Whether this is what became of it. Where evidence may have been sent in several forms, one of them is. */
  fits(prepared: readonly Prepared[]): boolean;
};

const maxRounds = 12;

/** Throws the signer's refusal, where it refuses without a leaf. */
export function ask(question: Question): readonly Prepared[] {
  const { signer, leaf, state, organizationId } = question;
  const [evidence] = leaf.evidence;
  if (evidence === undefined) throw new Error("nobody has stamped it");
  const place: EvidencePlace = {
    keyring: signer.keyring,
    organizationId,
    timeMs: leaf.timeMs,
    user: pageOf(state, "members").users.get(uuidFromBytes(evidence.userId)),
  };
  let refusal: unknown = new Error("the user has nothing that the evidence could have come from");
  let other: readonly Prepared[] | undefined;
  for (const { evidence: sent, issuerKey } of sentForms(evidence, place)) {
    try {
      const prepared = askWith(question, sent, issuerKey === undefined ? [] : [issuerKey]);
      if (question.fits(prepared)) return prepared;
      other = prepared;
    } catch (error) {
      refusal = error;
    }
  }
  if (other !== undefined) return other;
  throw refusal;
}

function askWith(
  question: Question,
  evidence: Request<"prepare">["evidence"],
  issuerKeys: readonly TakenIssuerKey[],
): readonly Prepared[] {
  const { signer, leaf, body, activityBody, state, organizationId, tell } = question;
  const isVote = body !== activityBody;
  const declared = recordWishes(activityBody);
  const request: Request<"prepare"> = {
    body,
    evidence,
    subOrganizationId: runsBelow(leaf, body) ? organizationId : undefined,
    target: isVote ? activityBody : undefined,
    state: undefined,
    journal: undefined,
    records: recordsFor(question, declared),
    pages: [],
    others: [],
    wishes: [],
    statements: [...statementsOf(signer.keyring.statementMac, leaf, issuerKeys), ...answersOf(question)],
  };
  for (let round = 0; round < maxRounds; round++) {
    const isAtHand = toHex(signer.heads.get(organizationId)?.known.digest ?? new Uint8Array()) === state.digest;
    tell();
    const offered = isAtHand && request.journal === undefined ? undefined : offer(state);
    const reply = finish(prepare(signer, { ...request, state: offered }));
    if (reply.kind === "prepared") return reply.value;
    for (const wish of reply.value) bring(question, request, declared, wish);
  }
  throw new Error("the signer misses something that the log does not have");
}

type Supplied = { -readonly [K in keyof Request<"prepare">]: Request<"prepare">[K] };

function bring(question: Question, request: Supplied, declared: RecordWish[], { kind, value }: Wish): void {
  const { state, executed } = question;
  if (kind === "journal") request.journal = journalOf(executed, value.slot);
  else if (kind === "page") {
    const content = state.pages.get(value.name);
    if (content !== undefined) request.pages = [...request.pages, { name: value.name, content }];
  } else if (kind === "otherState") {
    const other = question.otherState(value.organizationId);
    if (!request.others.some(({ header }) => header === other.header))
      request.others = [...request.others, offer(other)];
  } else if (kind === "record") {
    declared.push(JSON.parse(value.wish) as RecordWish);
    request.wishes = [...request.wishes, value.wish];
    request.records = recordsFor(question, declared);
  } else if (kind === "attempt") request.wishes = [...request.wishes, attemptKey(value.otpId)];
  else if (kind === "issuer") throw new Error(`no key of the issuer ${value.issuer} is in the leaf`);
  else if (kind === "oauth2") throw new Error("no answer of a provider is in the leaf");
}

function recordsFor({ records, leaf }: Question, wishes: readonly RecordWish[]): readonly StoredRecord[] {
  return withoutRecords(records.find(wishes), unreleasedIn(leaf));
}

/** What the activity's declaration looks at. */
function recordWishes(body: Uint8Array): RecordWish[] {
  const { type, parameters } = readEnvelope(readBody(body));
  const form = activityForms.get(type);
  if (form?.activity.records === undefined) return [];
  return [...form.activity.records(form.translate(parameters) as never)];
}

/** Of a sign-in that names the parent. A birth is its parent's act. */
function runsBelow({ event, organizationId }: Leaf, body: Uint8Array): boolean {
  return event !== "BIRTH" && readEnvelope(readBody(body)).organizationId !== uuidFromBytes(organizationId);
}

/** The journal of a minute is among all that was executed; the signer believes exactly what runs up to its digest. */
function journalOf(executed: readonly Executed[], slot: number): Uint8Array {
  return Buffer.concat(
    executed.filter(({ timestampMs }) => slotOf(timestampMs) === slot).map((each) => each.fingerprint),
  );
}

/** What the courier said then, as far as it decided anything: of each issuer the keys that the leaf names. */
function statementsOf(mac: StatementMac, { outside }: Leaf, more: readonly TakenIssuerKey[]): Uint8Array[] {
  const taken = outside.flatMap(({ kind, value }) =>
    kind === "issuerKey" && value.kind === "bytes" ? [decodeIssuerKey(value.value)] : [],
  );
  const byIssuer = Map.groupBy([...taken, ...more], ({ issuer }) => issuer);
  return [...byIssuer].map(([issuer, of]) => {
    const keys = `{"keys":[${of.map(({ key }) => key).join()}]}`;
    return makeStatement(mac, { issuer, keys, fetchedAtMs: of[0]?.fetchedAtMs ?? 0 });
  });
}

/** What the courier answered to an order, for the client that the state has for the credential. */
function answersOf({ signer, leaf, activityBody, state, organizationId }: Question): Uint8Array[] {
  const answers = leaf.outside.flatMap(({ kind, value }) =>
    kind === "oauth2Identity" && value.kind === "bytes" ? [decodeOauth2Identity(value.value)] : [],
  );
  if (answers.length === 0) return [];
  const { oauth2CredentialId } = readEnvelope(readBody(activityBody)).parameters as { oauth2CredentialId?: string };
  const client = pageOf(state, "oauth2Credentials").get(oauth2CredentialId ?? "");
  if (client === undefined) return [];
  const { provider, clientId } = client;
  const place = { organizationId, fingerprint: leaf.fingerprint };
  return answers.map((answer) =>
    sealAnswer(signer.keyring.courierKey, place, { provider, clientId }, { ...answer, bearerToken: "" }),
  );
}
