/** What a query is: everything about one read endpoint in one declaration. Queries never meet the signer. */
import type { Identity } from "@keystead/core/oidc/identity_claims.ts";
import type { Static, TObject } from "../fields/schema.ts";
import type { StoredAppProofs } from "../store/app_proofs.ts";
import type { Store } from "../store/store.ts";
import type { ActivityRecord } from "../views/activity_view.ts";
import type { Dialect } from "../views/dialect.ts";

/** Who asks. */
export type Caller = {
  /** The caller's own. */
  readonly organizationId: string;
  readonly organizationName: string;
  readonly userId: string;
  readonly userName: string;
  /** False for who shows a value that only reads. */
  readonly isStamped: boolean;
  /** Its credential can do nothing but recover its user. */
  readonly hasRecoveryKey: boolean;
  /** The organization that is asked about: the named one; or the caller's own sub-organization where the request named its parent. */
  readonly subjectId: string;
};

/** What few queries need beside the database. Without it, rows are shown as they are. */
export type QueryAccess = {
  /** The activity with what its row does not show, where this reader may see it. */
  withBearer(record: ActivityRecord, readerId: string): Promise<ActivityRecord>;
  /** The activity with its app proofs, where it asked for them. */
  withAppProofs(record: ActivityRecord): Promise<ActivityRecord>;
  /** The JSON of app proofs; undefined as long as their activity is not released. */
  openProofs(stored: StoredAppProofs): Promise<string | undefined>;
  /** Whom the token that `identityToken` names speaks for, by its issuer's word. */
  readonly identity: Identity | undefined;
  /** The signer's word on how many leaves of an organization a log has: its own, or the named one if that is its own. */
  logStatement(organizationId: string, logId: string | undefined): Promise<{ statement: string; logs: string }>;
  /** The checkpoint or a tile of a log, by its path below the log's address. */
  logFile(logId: string, path: string): Promise<Uint8Array | undefined>;
};

export type QueryDefinition<P extends TObject = TObject, R extends TObject = TObject> = {
  /** The last segment of `/public/v1/query/…`, and the name of the declaring file. */
  path: string;
  /** One sentence for the documentation. */
  summary: string;
  request: P;
  response: R;
  /** A caller known only in a sub-organization of the named parent is answered for that sub-organization. */
  findsSubOrganization?: boolean;
  /** A stamp that a verification token vouches for opens it: for what a sign-in or a vote is followed with. */
  takesAttested?: true;
  /** Also for who has a recovery key, which shows nothing more than whose it is. */
  openToRecoveryKeys?: true;
  /** The identity token in a request: it is verified before the query has its turn, because its issuer may have to be asked. */
  identityToken?(request: Static<P>): string | undefined;
  /** It reads with several statements what belongs together: all of them see the same state of the database. */
  inSnapshot?: boolean;
  run(
    store: Store,
    caller: Caller,
    request: Static<P>,
    dialect: Dialect,
    access?: QueryAccess,
  ): Promise<Static<R>> | Static<R>;
};

export function defineQuery<P extends TObject, R extends TObject>(
  definition: QueryDefinition<P, R>,
): QueryDefinition<P, R> {
  return definition;
}

/** Any query, for code that treats all alike. */
export type AnyQuery = Omit<QueryDefinition, "run" | "identityToken"> & {
  identityToken?(request: never): string | undefined;
  run(store: Store, caller: Caller, request: never, dialect: Dialect, access?: QueryAccess): Promise<unknown> | unknown;
};
