import type { Outcome } from "@keystead/core/policy/decision/decide.ts";
import type { KeyAccess } from "../../endpoints/key_access.ts";
import type { Weighed } from "../../rules/authorise.ts";
import type { Approval, Settings } from "../../state/entities.ts";
import type { SessionProfilesPage } from "../../state/pages.ts";
import type { KeyRecord } from "../../state/records.ts";
import type { Verdicts } from "../secrets/verdicts.ts";
import type { ActingParent } from "./acting_parent.ts";
import type { Asked } from "./asked.ts";
import type { AuthenticatedCaller } from "./authenticate.ts";
import type { IdentityTokens } from "./identity_tokens.ts";
import type { Supplied } from "./key_records.ts";
import type { Orders } from "./oauth2_orders.ts";
import type { OpenState } from "./open_state.ts";
import type { OtherStates } from "./other_states.ts";
import type { Signer } from "./signer.ts";

/** What a decision stands on: the state, the caller, the time, and what the gateway supplied with the body. */
export type DecisionContext = {
  signer: Signer;
  state: OpenState;
  caller: AuthenticatedCaller;
  /** Of a caller who is no user of this organization, but of its parent. */
  actingParent: ActingParent | undefined;
  /** Nobody stamped it: it came through the auth proxy. */
  isByAuthProxy: boolean;
  nowMs: number;
  /** Of the body that is being decided: of a vote, its own. */
  bodyMs: number;
  /** It names the parent of the organization that it runs in. */
  namesParent: boolean;
  supplied: Supplied;
  others: OtherStates;
  /** As activities are told them. */
  allowedOrigins(own?: Pick<Settings, "features">): readonly string[] | undefined;
  /** Those that sessions of this organization may name: its parent's, or its own where it has none. */
  sessionProfiles(): SessionProfilesPage;
  /** As activities are told them. */
  parentSettings(): Settings | undefined;
  ownClients(): readonly string[];
  /** Tokens of other issuers, and what was taken from outside to judge them. */
  identities: IdentityTokens;
  /** Sign-ins at OAuth 2.0 providers, and what was taken from outside for them. */
  orders: Orders;
  /** What the memory and the secrets said. */
  verdicts: Verdicts;
  /** Made when it is first asked for: most decisions look at no key before the activity runs. */
  keys(): KeyAccess;
};

/** A decision that is to be proven. */
export type Decided = {
  outcome: Outcome;
  approvals: readonly Approval[];
  /** Keys that were at hand when the rules asked for any. */
  records: readonly KeyRecord[];
  /** Ids of keys whose facts were looked up. */
  keyIds: ReadonlySet<string>;
  interfaceIds: ReadonlySet<string>;
};

export type Act = DecisionContext & {
  /** The activity in question: the request itself, or the one it votes on. */
  asked: Asked;
  /** SHA-256 of the bytes the caller stamped. */
  stamped: Uint8Array;
  proposerId: string;
  /** As activities are told it. */
  proposerKey: string | undefined;
  /** When the activity was submitted. */
  createdAtMs: number;
  /** True when the activity waited for consensus until now. */
  wasWaiting?: boolean;
  /** What policies said, where they were asked. */
  weighed?: Weighed | undefined;
  /** The decision, where it is to be proven to others. */
  decided?: Decided | undefined;
};
