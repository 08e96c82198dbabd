/** Holds the codes, attempts and messages of an organization against its activities: each came with one of them, whole. */
import { activityForms } from "@keystead/server/generated/activities.ts";
import { spentPlace } from "@keystead/server/store/otp_codes.ts";
import type { Rows } from "./deployment_rows.ts";

export function checkCodes({ organization, activities, otp_codes, otp_attempts, outbox }: Rows): string[] {
  if (organization.deleted_at_ms !== null) return [];
  const done = activities.filter(({ status }) => status === "ACTIVITY_STATUS_COMPLETED");
  const started = done.flatMap(({ activity_id, result }) => {
    const { otpId } = JSON.parse(result ?? "{}") as { otpId?: string };
    return otpId === undefined ? [] : [{ activity_id, otpId }];
  });
  const spending = done.filter(({ type }) => activityForms.get(type)?.activity.spendsCode === true);
  const spent = otp_attempts.filter(({ place }) => place === spentPlace);
  const ids = new Set(done.map(({ activity_id }) => activity_id));
  return [
    ...compare(
      "codes",
      otp_codes.map(({ otp_id }) => otp_id),
      started.map(({ otpId }) => otpId),
    ),
    ...compare(
      "bodies with a token",
      spent.map(({ fingerprint }) => fingerprint),
      spending.map(({ fingerprint }) => fingerprint),
    ),
    ...started
      .map(({ activity_id }) => outbox.filter((message) => message.activity_id === activity_id).length)
      .filter((messages) => messages !== 1)
      .map((messages) => `a code with ${messages} messages`),
    ...outbox
      .filter(({ activity_id }) => !ids.has(activity_id))
      .map(({ message_id }) => `message ${message_id} of an activity that is not there`),
  ];
}

function compare(what: string, stored: readonly string[], said: readonly string[]): string[] {
  const isSame = stored.toSorted().join() === said.toSorted().join();
  return isSame ? [] : [`${what}: ${stored.join(" ")} are stored, ${said.join(" ")} are in the activities`];
}
