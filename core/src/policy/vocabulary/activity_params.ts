/** The parameters that policies see as `activity.params`, by kind. Kinds without a row show none. */
import { bool, int, list, type PolicyType, string, struct } from "./types.ts";

const derivation = struct("a derivation", {
  /** identity, signing_leaf, deposit, static_deposit or htlc_preimage: the one that was sent. */
  type: string,
  signing_leaf: struct("a signing_leaf", { leaf_id: string }),
  static_deposit: struct("a static_deposit", { index: int }),
});

const signatureRequest = struct("a signature request", {
  derivation,
  message: string,
  verifying_key: string,
  operator_commitments: list(struct("an operator commitment", { id: string, hiding: string, binding: string })),
  adaptor_public_key: string,
});

const operatorRecipients = list(
  struct("an operator recipient", { operator_id: string, encryption_public_key: string }),
);

const transfer = struct("activity.params.transfer", {
  transfer_id: string,
  leaves: list(
    struct("a transfer's leaf", {
      leaf_id: string,
      old_leaf_derivation: derivation,
      new_leaf_derivation: derivation,
      refund_signature: string,
      direct_refund_signature: string,
      direct_from_cpfp_refund_signature: string,
    }),
  ),
  threshold: int,
  operator_recipients: operatorRecipients,
  receiver_public_key: string,
});

const claim = struct("activity.params.claim", {
  leaves: list(struct("a claim's leaf", { leaf_id: string, ciphertext: string, sender_signature: string })),
  threshold: int,
  operator_recipients: operatorRecipients,
  transfer_id: string,
  sender_identity_public_key: string,
});

const lightningReceive = struct("activity.params.lightning_receive", {
  threshold: int,
  operator_recipients: operatorRecipients,
});

const login = { session_profile_id: string };
const payload = { hash_function: string, encoding: string };
const exported = { target_public_key: string };
const webhookEndpoint = { endpoint_id: string };
const earn = { chain: string, wrapper_address: string, sponsor: bool };

export const activityParams: Readonly<Record<string, Readonly<Record<string, PolicyType>>>> = {
  SIGN_RAW_PAYLOAD: payload,
  SIGN_RAW_PAYLOADS: payload,
  SIGN_TRANSACTION: { type: string },
  DELETE_USERS: { user_ids: list(string) },
  CREATE_API_KEYS: { user_id: string },
  DELETE_API_KEYS: { user_id: string, api_key_ids: list(string) },
  EXPORT_WALLET: exported,
  EXPORT_WALLET_ACCOUNT: exported,
  EXPORT_PRIVATE_KEY: exported,
  UPDATE_WALLET: { wallet_id: string },
  INIT_OTP_AUTH: { otp_length: int },
  OTP_LOGIN: login,
  STAMP_LOGIN: login,
  OAUTH_LOGIN: login,
  UPDATE_WEBHOOK_ENDPOINT: webhookEndpoint,
  DELETE_WEBHOOK_ENDPOINT: webhookEndpoint,
  SPARK_SIGN_FROST: { sign_with: string, signatures: list(signatureRequest) },
  SPARK_PREPARE_TRANSFER: { sign_with: string, transfer },
  SPARK_CLAIM_TRANSFER: { sign_with: string, claim },
  SPARK_PREPARE_LIGHTNING_RECEIVE: { sign_with: string, lightning_receive: lightningReceive },
  CREATE_SWAP_QUOTE: { slippage_bps: int, output_token: string, destination_address: string },
  EXECUTE_SWAP: { output_token: string, input_amount: int, sponsor: bool, destination_address: string },
  EARN_DEPOSIT: { ...earn, assets: int },
  /** `MAX`, or digits. */
  EARN_WITHDRAW: { ...earn, amount_value: string },
  EARN_DEPLOY_WRAPPER: { client_fee_bps: int, client_fee_wallet: string },
  EARN_SET_WRAPPER_STATE: { wrapper_address: string, deposits_disabled: bool },
  CLAIM_EARN_FEES: { wrapper_address: string },
};

/** Where the wire has another name than the same words in camel case. */
export const wireNames: Readonly<Record<string, string>> = { chain: "chainCaip2" };
