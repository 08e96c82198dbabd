/** What `email_auth` and `init_user_email_recovery` share on the wire: both mail a bundle with a key. */
import { targetPublicKey } from "./bundles.ts";
import { email } from "./contacts.ts";
import { emailAuthCustomization, emailCustomizationV1, mailSender } from "./messages.ts";
import { Type } from "./schema.ts";
import { invalidateExisting, sessionKeyName, sessionSeconds } from "./sessions.ts";

const mailed = { email, targetPublicKey, expirationSeconds: sessionSeconds, ...mailSender };
const signIn = { ...mailed, apiKeyName: sessionKeyName, invalidateExisting };

export const emailAuthParams = Type.Object({ ...signIn, emailCustomization: emailAuthCustomization });
/** Before applications had to have a name. */
export const emailAuthParamsV1 = Type.Object({ ...signIn, emailCustomization: emailCustomizationV1 });

export const emailRecoveryParams = Type.Object({ ...mailed, emailCustomization: emailAuthCustomization });
export const emailRecoveryParamsV1 = Type.Object({ ...mailed, emailCustomization: emailCustomizationV1 });
