/**
 * Which origins passkeys may be used from. An organization's list is the value of a feature, so that `update_allowed_origins` and the
 * feature are two ways to the same list. A parent's list binds its sub-organizations.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { FeatureName } from "../fields/features.ts";
import { isLasting } from "../state/credentials.ts";
import type { Feature, Settings } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";

export const originsFeature = "FEATURE_NAME_WEBAUTHN_ORIGINS" satisfies FeatureName;

const maxOrigins = 100;
/** Of the feature's value. */
const maxLength = 10_000;
/** As browsers write them, to the letter: only so can they ever match. */
const webOrigin = /^https?:\/\/[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::[0-9]{1,5})?$/;
const androidOrigin = /^android:apk-key-hash:[A-Za-z0-9_-]{1,64}$/;
const maxOriginLength = 300;

type WithFeatures = Pick<Settings, "features">;

/** The organization's own list; undefined where it has none. A list that is set and empty is a list: it allows nothing. */
export function ownOrigins({ features }: WithFeatures): readonly string[] | undefined {
  const feature = features.find(({ name }) => name === originsFeature);
  if (feature === undefined) return undefined;
  const origins = splitOrigins(feature.value ?? "");
  return isAny(origins) ? undefined : origins;
}

/** What counts in an organization: whoever has a list, it and its parent, must list the origin. */
export function allowedOrigins(own: WithFeatures, parent: WithFeatures | undefined): readonly string[] | undefined {
  const [ours, theirs] = [ownOrigins(own), parent && ownOrigins(parent)];
  if (ours === undefined || theirs === undefined) return ours ?? theirs;
  return ours.filter((origin) => theirs.includes(origin));
}

/** Settings with another list. Throws `invalid_argument` on what no browser calls an origin. */
export function withOrigins<S extends WithFeatures>(settings: S, origins: readonly string[]): S {
  const others = settings.features.filter(({ name }) => name !== originsFeature);
  return { ...settings, features: [...others, originsFeatureOf(origins)] };
}

/** The feature that stands for a list. */
export function originsFeatureOf(origins: readonly string[]): Feature {
  const unique = [...new Set(origins)];
  const value = (isAny(unique) ? unique : checked(unique)).join(",");
  return value === "" ? { name: originsFeature } : { name: originsFeature, value };
}

/** The origins in a feature's value. Earlier releases took any text, so they need not be any. */
export function splitOrigins(value: string): string[] {
  return value
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
}

/**
 * An empty list allows no passkey at all. It is refused where the root quorum could not take it back: nobody else could, and what the
 * organization holds would be lost.
 */
export function refuseEmptyList({ users, rootQuorum }: MembersPage, origins: readonly string[]): void {
  if (origins.length > 0) return;
  const { threshold, userIds } = rootQuorum;
  const withKey = userIds.filter((userId) => users.get(userId)?.apiKeys.some(isLasting) === true);
  if (withKey.length >= threshold) return;
  throw new Fault(
    "invalid_argument",
    "an empty list of origins allows no passkey, and the root quorum cannot act without one; give its members API keys first, " +
      "or list `*` to have no list",
  );
}

/** Written for "no list": an origin must then belong to the passkey's own domain. */
const anyOrigin = "*";

function isAny(origins: readonly string[]): boolean {
  return origins.length === 1 && origins[0] === anyOrigin;
}

function checked(origins: readonly string[]): readonly string[] {
  if (origins.length > maxOrigins) {
    throw new Fault("invalid_argument", `an organization may list at most ${maxOrigins} origins`);
  }
  const wrong = origins.find(
    (origin) => origin.length > maxOriginLength || !(webOrigin.test(origin) || androidOrigin.test(origin)),
  );
  if (wrong === undefined && origins.join(",").length > maxLength) {
    throw new Fault("invalid_argument", `a list of origins has at most ${maxLength} characters`);
  }
  if (wrong === undefined) return origins;
  throw new Fault(
    "invalid_argument",
    `\`${wrong.slice(0, maxOriginLength)}\` is not an origin: write it as browsers do, such as \`https://app.example.com\`, ` +
      "without a path, or as `android:apk-key-hash:…`",
  );
}
