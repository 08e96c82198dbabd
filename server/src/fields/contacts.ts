import { optional } from "./credentials.ts";
import { Type } from "./schema.ts";

/** Bounded text; the address itself is checked with its own error. Empty means none. */
export const email = Type.String({ maxLength: 320, description: "E-mail address." });
export const phoneNumber = Type.String({ maxLength: 32, description: "Phone number in E.164 form." });

export const optionalEmail = optional(email);
export const optionalPhoneNumber = optional(phoneNumber);
