import type { SessionProfile } from "../state/entities.ts";
import { timestamp } from "./dialect.ts";

export function sessionProfileView({ expirationSeconds, createdAtMs, updatedAtMs, ...profile }: SessionProfile) {
  return {
    ...profile,
    ...(expirationSeconds !== undefined && { expirationSeconds: String(expirationSeconds) }),
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}
