/** @keystead/sdk: a typed client for a Keystead server. */
export type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
export { type ApiKeyStamperOptions, createApiKeyStamper, generateApiKey } from "./api_key_stamper.ts";
export { type Client, type ClientOptions, createClient, type RequestOptions } from "./client.ts";
export * from "./generated/api.ts";
export { KeysteadError, type KeysteadErrorFields } from "./keystead_error.ts";
export {
  type CredentialsContainer,
  createPasskey,
  createPasskeyStamper,
  type NewPasskey,
  type NewPasskeyOptions,
  type PasskeyStamperOptions,
} from "./passkeys.ts";
export {
  createSessionStamper,
  generateSessionKey,
  type ResumeSessionOptions,
  resumeSession,
  type SessionKey,
  type SessionLifetime,
  type SessionStamper,
  type SessionStamperOptions,
} from "./session_stamper.ts";
export type { Stamper, StampHeader } from "./stamper.ts";
