/** What an activity is: everything about one state-changing endpoint in one declaration. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { Work } from "@keystead/core/work.ts";
import type { Static, TObject } from "../fields/schema.ts";
import type { OutgoingMessage } from "../outbox/message.ts";
import type { Change, SessionProfile, Settings } from "../state/entities.ts";
import type { OtpCodeRecord } from "../state/otp_code_record.ts";
import type { Pages } from "../state/pages.ts";
import type { RecordWish } from "../state/record_wish.ts";
import type { TextRecord } from "../state/records.ts";
import type { CodeAccess } from "./code_access.ts";
import type { IdentityAccess } from "./identity_access.ts";
import type { KeyAccess, NewRecord } from "./key_access.ts";
import type { Limits } from "./limits.ts";
import type { OrderAccess } from "./order_access.ts";
import type { VerdictAccess } from "./verdict_access.ts";

/** The keys that policies look at: what signs, what is exported, or the wallets that are deleted. */
export type PolicySubject =
  /** An address, or the id of a private key. */
  | { by: "signWith"; signWith: string }
  | { by: "account"; address: string }
  | { by: "privateKey"; privateKeyId: string }
  | { by: "wallet"; walletId: string }
  | { by: "wallets"; walletIds: readonly string[] };

/** What a handler may know besides state and parameters. By the time it runs, the caller is known and allowed. */
export type ActivityContext = {
  readonly organizationId: string;
  /** Present when the organization is a sub-organization. */
  readonly parentId: string | undefined;
  /** The signer's clock. */
  readonly nowMs: number;
  /** The time that the stamped body names; of one that waited for votes, the time of the vote that let it run. */
  readonly bodyMs: number;
  /** The user who submitted the activity, whoever approved it since. Where a parent acts in its sub-organization, a user of the parent. */
  readonly userId: string;
  /** The API key that the submitter stamped this body with, as it is stored; undefined where other evidence came with it. */
  readonly proposerKey?: string | undefined;
  /** A user of the parent asks. */
  readonly isByParent: boolean;
  /** Nobody stamped it: it came through the auth proxy. */
  readonly isByAuthProxy?: boolean;
  /** Whether the operator has a captcha provider. */
  readonly hasCaptcha?: boolean;
  readonly limits: Limits;
  readonly curves: Curves;
  readonly keys: KeyAccess;
  readonly codes: CodeAccess;
  readonly identities: IdentityAccess;
  readonly orders: OrderAccess;
  /** Whatever an activity learns from the memory or from a secret, it asks here. */
  readonly verdicts: VerdictAccess;
  /**
   * The origins that passkeys may be used from, with these settings or as they are; undefined where neither this organization nor its
   * parent has a list.
   */
  allowedOrigins(own?: Pick<Settings, "features">): readonly string[] | undefined;
  /** The settings of the parent; undefined where the organization has none. */
  parentSettings(): Settings | undefined;
  /** The applications at issuers that this organization, or its parent where it has one, calls its own: as `clientAt` writes them. */
  ownClients(): readonly string[];
  /** A session profile of this organization, or of its parent where it has one: those are what its sessions may name. */
  findSessionProfile(sessionProfileId: string): SessionProfile | undefined;
  /** The next derived id of this activity, with its tag where it is a key's; the order of calls is part of the activity's meaning. */
  newId(tag?: string): string;
};

/** An organization that an activity brings into the world, with everything it starts with. */
export type Birth = {
  organizationId: string;
  organizationName: string;
  changes: readonly Change[];
  records?: readonly NewRecord[];
};

export type ActivityOutcome<R> = {
  changes: readonly Change[];
  records?: readonly NewRecord[];
  /** Records without a secret; each belongs to an entity that the changes put into its page. */
  texts?: readonly TextRecord[];
  births?: readonly Birth[];
  /** One-time codes that it starts. They commit with it and change no state. */
  codes?: readonly OtpCodeRecord[];
  /** The code whose token is in the result: used up when that is released, and only one body's is. */
  spentCode?: OtpCodeRecord;
  /** Sent once the activity is committed, each at least once until it expires. Nothing else is needed to send mail. */
  messages?: readonly OutgoingMessage[];
  result: R;
};

/** A result field that is worth something to whoever has it. Its row stays sealed; only its own user sees it, until it ends. */
export type BearerField = {
  field: string;
  endsAtMs(result: Record<string, unknown>): number;
  /** Not even by a query: its user sends the same stamped bytes again. Then the parameters have a bearer value, too. */
  onlyForSameBytes?: true;
};

/** Parameters that are worth something to whoever has them: `rules/bearer_params.ts` says how long. */
export type BearerKind = "verificationToken" | "oneTimeCode" | "identityToken" | "authorizationCode";

/** One spelling of an activity on the wire. Names are written out, never computed. */
export type WireNames = {
  /** `ACTIVITY_TYPE_…`, with its version suffix. */
  type: string;
  intentKey: string;
  resultKey: string;
};

/** An older version: the same act, its parameters translated to the newest form. */
export type ActivityVersion = WireNames & {
  params: TObject;
  translate(params: never): unknown;
  /** The result as this version's clients expect it, where that differs. */
  answer?(result: Record<string, unknown>): Record<string, unknown>;
};

export type ActivityDefinition<P extends TObject = TObject, R extends TObject = TObject, S = unknown> = WireNames & {
  /** The last segment of `/public/v1/submit/…`, and the name of the declaring file. */
  path: string;
  /** One sentence for the documentation. */
  summary: string;
  params: P;
  result: R;
  /** Older versions on the same path. */
  versions?: readonly ActivityVersion[];
  /** Types that this path had once and refuses today, with what to do instead. */
  formerTypes?: Readonly<Record<string, string>>;
  /** It does nothing of its own but vote on another activity; the answer is that one. */
  vote?: "APPROVED" | "REJECTED";
  /** No policy can grant it: only the root quorum decides. */
  rootQuorumOnly?: true;
  /** The user whose own credentials these parameters concern; that user is allowed by default. */
  ownCredentialOf?(params: Static<P>, requesterId: string): string;
  /** The user whose own act this must be: anyone else is refused before quorum and policies are asked, even root. */
  ownActOf?(params: Static<P>, requesterId: string): string;
  /** A body that names the parent runs in the sub-organization whose credential stamped it: decision 0048. */
  findsSubOrganization?: true;
  /** Users of the parent may do it in a sub-organization, if the parent's quorum or policies allow it at once: decision 0053. */
  openToParent?: true;
  /** A stamp that a verification token vouches for opens it: for sign-ins and votes. */
  takesAttested?: true;
  /** Stamped with a recovery key of the user's own, and with nothing else; recovery keys do nothing else. Never by the quorum. */
  byRecoveryKey?: true;
  /** It makes a session that may submit, with this profile or none. A session that has a profile makes others of the same only. */
  makesSession?(params: Static<P>): { sessionProfileId: string | undefined };
  /** The part of the organization's state that `run` works on. */
  state(pages: Pages, params: Static<P>): S;
  /** What it costs beyond any activity, in the units of `cost.ts`, from its parameters alone. Where nothing grows with them, nothing. */
  cost?(params: Static<P>): number;
  /** The records it looks at, as far as its parameters tell. */
  records?(params: Static<P>): readonly RecordWish[];
  /** The keys that policies can ask about. */
  policySubject?(params: Static<P>): PolicySubject | undefined;
  /** True for results that are worth something alone (signatures, bundles, tokens): stored sealed until released. */
  sealed?: boolean;
  /** The same each time, and changes nothing: the state needs no memory of it. Signing is, and a value that only reads. */
  pure?: boolean;
  /** Its result may use up a one-time code. Then it is sealed. */
  spendsCode?: true;
  /** What is not allowed at once is refused: it makes no sense after others have had a day to approve it. */
  neverWaits?: true;
  /** What must wait for approvals runs once before, and is refused if that fails: no one is asked to approve what cannot be. */
  isTriedBeforeWaiting?: true;
  /** The field of a sealed result that its row never shows. */
  bearer?: BearerField;
  /** It may end the credential that it is sent with. The same request, stamp and all, is answered again nonetheless. */
  mayEndCaller?: true;
  /**
   * Parameters that are worth something to whoever has them, of any version: `{ verificationToken: "verificationToken" }`, or inside
   * lists `"users[].token"`. A body with one is sealed in its row until all of them have ended: decision 0058.
   */
  bearerParams?: Readonly<Record<string, BearerKind>>;
  /** The result as clients see it, where it is kept with more. */
  answer?(result: Record<string, unknown>): Record<string, unknown>;
  /**
   * Pure: state in, changes and result out. A thrown Fault leaves nothing behind but a FAILED record. Where it may take longer than a
   * few milliseconds it pauses; dropped at a pause, it wipes its secrets.
   */
  run(
    state: S,
    params: Static<P>,
    context: ActivityContext,
  ): ActivityOutcome<Static<R>> | Work<ActivityOutcome<Static<R>>>;
};

export function defineActivity<P extends TObject, R extends TObject, S>(
  definition: ActivityDefinition<P, R, S>,
): ActivityDefinition<P, R, S> {
  return definition;
}

/** Ties an older version's translation to the parameters it must produce. */
export function defineVersion<P extends TObject, Newest>(
  version: Omit<ActivityVersion, "params" | "translate"> & { params: P; translate(params: Static<P>): Newest },
): Omit<ActivityVersion, "params" | "translate"> & { params: P; translate(params: Static<P>): Newest } {
  return version;
}

/** Any activity, for code that treats all alike: parameters have been validated against its own schema before. */
export type AnyActivity = Omit<
  ActivityDefinition,
  "state" | "run" | "ownCredentialOf" | "ownActOf" | "makesSession" | "records" | "policySubject" | "cost"
> & {
  cost?(params: never): number;
  policySubject?(params: never): PolicySubject | undefined;
  records?(params: never): readonly RecordWish[];
  ownCredentialOf?(params: never, requesterId: string): string;
  ownActOf?(params: never, requesterId: string): string;
  makesSession?(params: never): { sessionProfileId: string | undefined };
  state(pages: Pages, params: never): unknown;
  run(state: never, params: never, context: ActivityContext): ActivityOutcome<unknown> | Work<ActivityOutcome<unknown>>;
};

/** One accepted `type`: which activity it is, and how its parameters become the newest form. */
export type ActivityForm = WireNames & {
  activity: AnyActivity;
  params: TObject;
  translate(params: unknown): unknown;
  answer(result: Record<string, unknown>): Record<string, unknown>;
};

/** Every `type` an activity accepts, the newest first. */
export function formsOf(activity: AnyActivity): ActivityForm[] {
  const { type, intentKey, resultKey, params } = activity;
  const asItIs = <T>(value: T) => value;
  const answer = activity.answer ?? asItIs;
  const newest = { activity, type, intentKey, resultKey, params, translate: asItIs<unknown>, answer };
  const older = (activity.versions ?? []).map((version) => ({
    ...version,
    activity,
    answer: version.answer ?? asItIs,
    translate: version.translate as (value: unknown) => unknown,
  }));
  return [newest, ...older];
}
