/** What the matrix must know of an endpoint. One entry each; the registry says which there must be. */
import type { Refusal } from "../wire.ts";
import type { Person } from "../world.ts";
import type { Fixture, Json } from "./fixture.ts";
import type { Look } from "./look.ts";
import type { Place } from "./stage.ts";

/** A refused or failed activity that is kept; what is malformed or unauthenticated leaves nothing. */
export type Kept = "REJECTED" | "FAILED";

/** Ids that are not of the place where the endpoint runs: of its sub-organization, of a stranger, or of nothing at all. */
export type ForeignIds = {
  userId: string;
  apiKeyId: string;
  userTagId: string;
  walletId: string;
  walletAccountId: string;
  /** Of a wallet account. */
  address: string;
  privateKeyId: string;
  privateKeyTagId: string;
  policyId: string;
  smartContractInterfaceId: string;
  activityId: string;
  fingerprint: string;
};

type Bent<P> = {
  /** What is wrong with it. */
  name: string;
  /** Good parameters, made bad. */
  bend(good: P, fixture: Fixture): object | Promise<object>;
  /** Another place than the endpoint's own. */
  at?: keyof Pick<Fixture, "parent" | "sub">;
};

export type BadInput<P> = Bent<P> & { refusal: Refusal | ((sent: Json, fixture: Fixture) => Refusal); kept?: Kept };

export type ForeignInput<P> = {
  name: string;
  bend(good: P, theirs: ForeignIds): object;
  refusal(theirs: ForeignIds, ours: Place): Refusal;
};

/** What an activity answered, and what the organization looked like before and after. */
export type Seen = { before: Look; after: Look; result: Json };

export type ActivityEntry<P = Json> = {
  /** The parent organization unless told. */
  runsIn?: "sub";
  /** Nothing is there afterwards that could be looked at. */
  endsPlace?: true;
  /** Parameters that succeed, each time it is called. */
  good(fixture: Fixture): P | Promise<P>;
  /** Parameters that may not be left out, by path: `users.0.userName`. */
  required: readonly string[];
  /** The whole result. */
  result(sent: P, seen: Seen, fixture: Fixture): object;
  /** Fails unless everybody in the organization sees what was done, and nothing else. */
  shows(sent: P, seen: Seen, fixture: Fixture): void | Promise<void>;
  bad: readonly BadInput<P>[];
  foreign: readonly ForeignInput<P>[];
  /** What a member may do to itself without any policy. */
  own?(fixture: Fixture): Promise<P> | P;
  /** What a member may not even do to itself. */
  denied?(fixture: Fixture): P;
  /** Good parameters name their caller, and nobody else may send them: a member is refused with `denied` alone. */
  isOwnAct?: true;
  /** A session of the caller's own: it waits for nobody, and a member of a sub-organization may name the parent for it. */
  isSignIn?: true;
  /** What would have to wait for a second root user is refused. */
  neverWaits?: true;
  /** Who alone can send these good parameters, where that is not a root user. */
  callerOf?(good: P, fixture: Fixture): Person;
  /** Its good parameters come from a message that the server sends. */
  needsMessage?: true;
  /** The parent's users may do it too, if the parent allows it. */
  openToParent?: true;
  /** The field of the result that others than the caller see empty. */
  bearerField?: string;
  /** Parameters that are worth something to whoever has them: queries show their digests, and the result's `bearerField` to nobody. */
  bearerParams?: readonly string[];
  /** Older types on the same path: good parameters in their form. */
  versions?: Readonly<Record<string, (fixture: Fixture) => object | Promise<object>>>;
  /** Endpoint-specific guarantees, each on the stage after all others. */
  also?: Readonly<Record<string, (fixture: Fixture) => Promise<void>>>;
};

/** Lets an entry's functions agree on the type of its parameters. */
export function activityEntry<P>(entry: ActivityEntry<P>): ActivityEntry {
  return entry;
}

export type QueryEntry<P = Json> = {
  /** Parameters besides the organization, for something that is in the place. */
  good(fixture: Fixture, place: Place): P | Promise<P>;
  required: readonly string[];
  /** Fails unless this is what the caller must hear. */
  answer(sent: P, answer: Json, fixture: Fixture, caller: Person): void | Promise<void>;
  bad: readonly BadInput<P>[];
  foreign: readonly ForeignInput<P>[];
  /** Its answer is about the caller, wherever that is found. */
  isAboutCaller?: true;
  /** Its answer says when it was given: the same question has another answer each time. */
  isOfTheMoment?: true;
  /** A parent may ask for what is in its sub-organizations without naming them. */
  findsBelow?: true;
  /** A member of a sub-organization may name the parent, and is answered for its own: what it hears of what is the parent's. */
  upwards?(sent: P, own: Place): Refusal;
  also?: Readonly<Record<string, (fixture: Fixture) => Promise<void>>>;
};

export function queryEntry<P>(entry: QueryEntry<P>): QueryEntry {
  return entry;
}
