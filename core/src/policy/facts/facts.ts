/** What the three expressions of a policy can see. Names and types: vocabulary.ts. */
import type { Struct, Value } from "../values/values.ts";

/** `condition`: an activity, and what its payload says. A namespace that this activity does not have is undefined. */
export type ConditionFacts = {
  activity: { type: string; kind: string; resource: string; action: string };
  /** The parameters that this kind of activity shows; one that was not sent is undefined here and its name in `paramNames`. */
  params: Struct;
  paramNames: ReadonlySet<string>;
  wallet?: Struct;
  wallets?: readonly Value[];
  wallet_account?: Struct;
  private_key?: Struct;
  secret?: Struct;
  eth?: { tx?: Struct; eip_712?: Struct; eip_7702_authorization?: Struct };
  solana?: { tx: Struct };
  bitcoin?: { tx: Struct };
  tron?: { tx: Struct };
  tempo?: { tx: Struct };
};

/** A user, as `approvers` and `credentials` show it. */
export type UserFacts = {
  userId: string;
  userName: string;
  userEmail?: string;
  userTags: readonly string[];
  credentials: readonly CredentialFacts[];
};

export type CredentialFacts = {
  /** The id of the API key or authenticator. */
  id: string;
  /** `CREDENTIAL_TYPE_…`. */
  type: string;
  publicKey: string;
  /** Of passkeys only. */
  credentialId?: string;
};

/** A credential that its user no longer has. What is not known of it has no value: a policy that asks for it errs. */
export type DeletedCredentialFacts = { id: string; type: string | undefined; isDeleted: true };

/** A user who approves, and the credential it used. */
export type Approver = { user: UserFacts; credential: CredentialFacts | DeletedCredentialFacts };
