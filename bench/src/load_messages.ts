/** What the bench and its load generator say to each other. */
import type { Account } from "./presign.ts";

export type Job = {
  account: Account;
  endpoint:
    | "whoami"
    | "create_user_tag"
    /** Each creation is sent four times. */
    | "create_user_tag_again"
    | "sign_raw_payload"
    | "sign_transaction"
    | "create_sub_organization"
    | "create_wallet"
    /** Of the identity that `oauth_login` signs in by. */
    | "create_oauth_providers"
    | "oauth_login"
    /** Through the auth proxy, with a passkey and a wallet. */
    | "sign_up";
  /** The addresses that payloads and transactions are signed with in turn. */
  signWith?: readonly string[];
  /** Tags are created in these in turn, instead of in the account's organization. */
  organizationIds?: readonly string[];
  connections: number;
  seconds: number;
  /** Whose identity is registered. */
  userId?: string;
  /** Where people sign up. */
  authProxyConfigId?: string;
  /** How many requests to sign for it; the phase ends early when one connection has used up its share. */
  requests: number;
  /** Bodies bear times spread over this long before now. */
  spreadMs?: number;
};

export type ToLoad = { kind: "prepare"; job: Job } | { kind: "go" };

export type LoadResult = {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** The sub-organizations that were created, or the addresses of the wallets that were. */
  born: string[];
};

export type FromLoad =
  | { kind: "prepared" }
  | { kind: "done"; result: LoadResult }
  | { kind: "failed"; message: string };
