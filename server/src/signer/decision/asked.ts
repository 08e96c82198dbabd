/** What a stamped body asks for, read from its bytes alone. */
import { Fault } from "@keystead/core/fault.ts";
import { costOfTranslated, refuseTooCostly } from "../../endpoints/cost.ts";
import type { ActivityForm } from "../../endpoints/define_activity.ts";
import { type Envelope, readBody, readEnvelope } from "../../endpoints/envelope.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";
import { sha256 } from "../../state/digest.ts";

export type Asked = {
  form: ActivityForm;
  envelope: Envelope;
  /** In the newest form. */
  params: unknown;
  fingerprint: Uint8Array;
  body: Uint8Array;
};

export function readAsked(body: Uint8Array): Asked {
  const envelope = readEnvelope(readBody(body));
  const form = activityForms.get(envelope.type);
  if (form === undefined) throw new Fault("invalid_argument", `Invalid activity type: \`${envelope.type}\``);
  if (activityValidators[form.type]?.(envelope.parameters) !== true) {
    throw new Fault("invalid_argument", `invalid request body: \`parameters\` do not fit ${form.type}`);
  }
  const params = form.translate(envelope.parameters);
  refuseTooCostly(costOfTranslated(form.activity, { ...envelope, parameters: params }, body.length));
  return { form, envelope, params, fingerprint: sha256(body), body };
}
