/** Where passkeys may be used, as far as the model knows. */
import type { State } from "./model.ts";

/** Where all passkeys of the clients are used. */
export const passkeyOrigin = "https://app.example.com";

/** Whether passkeys may be used and registered: wherever there is no list, and where it names their origin. An empty one allows none. */
export function takesPasskeys({ originsFeature = "*" }: State): boolean {
  return originsFeature === "*" || originsFeature.split(",").includes(passkeyOrigin);
}
