/** Why nothing was fetched. */
export type FetchFailureKind =
  /** The address is not one that is fetched from. */
  | "refused"
  /** No connection, or one that broke off. */
  | "unreachable"
  /** No certificate of that host. */
  | "tls"
  /** The time was over. */
  | "timeout"
  /** An answer came, and it is not what was asked for. */
  | "answer"
  /** As many fetches wait as may wait. */
  | "busy";

/**
 * Nothing was fetched. `message` begins with the host and may be shown to strangers: it has nothing of an answer but its status and type,
 * and does not tell a name of the operator's own network from one that does not exist.
 */
export class FetchFailure extends Error {
  override readonly name = "FetchFailure";
  readonly kind: FetchFailureKind;

  constructor(kind: FetchFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
