/** Refusals in the published words, as the black-box suites expect them. */
import assert from "node:assert/strict";
import type { KeyPair } from "./key_pairs.ts";
import type { Refusal } from "./wire.ts";

const signatureInvalid = { status: 401, code: 16, errorCode: "SIGNATURE_INVALID" } as const;

export const unreadable: Refusal = { ...signatureInvalid, message: "could not extract api key stamp" };
export const malformed: Refusal = { ...signatureInvalid, message: "malformed activity stamp" };
export const unverified: Refusal = { ...signatureInvalid, message: "could not verify api key signature" };

export const unstamped = {
  query: {
    status: 401,
    code: 16,
    message: "no valid authentication signature found for request",
    errorCode: "SIGNATURE_MISSING",
  },
  submit: {
    status: 401,
    code: 16,
    message: "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)",
    errorCode: "SIGNATURE_MISSING",
  },
} as const satisfies Record<string, Refusal>;

export function unknownKey({ publicKey }: KeyPair, organizationId: string, parentId?: string): Refusal {
  return {
    status: 401,
    code: 16,
    errorCode: "PUBLIC_KEY_NOT_FOUND",
    message:
      "could not find public key in organization or its parent organization: " +
      `organizationId=${organizationId} publicKey=${publicKey}` +
      (parentId === undefined ? "" : ` parentOrganizationId=${parentId}`),
  };
}

export function expiredKey({ publicKey }: KeyPair): Refusal {
  return {
    status: 401,
    code: 16,
    errorCode: "API_KEY_EXPIRED",
    message: `authentication failed: rpc error: code = Unauthenticated desc = expired api key publicKey=${publicKey}`,
  };
}

export const noSuchOrganization: Refusal = {
  status: 404,
  code: 5,
  message: "no organization found with the given ID",
  errorCode: "ORGANIZATION_NOT_FOUND",
};

export function organizationMismatch(target: string, own: string): Refusal {
  return {
    status: 400,
    code: 3,
    errorCode: "ORGANIZATION_MISMATCH",
    message: `organization mismatch: request is targeting organization ("${target}"), but voters are in organization ("${own}")`,
  };
}

/** Nobody wrote a policy that allows it, because there are none. */
export const policyRefusal: Refusal = {
  status: 403,
  code: 7,
  message: "You don't have sufficient permissions to take this action.",
  details: [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "No policies evaluated to outcome: Allow",
      policyEvaluations: [],
    },
  ],
};

/** Of all policies the outcome, and of at most three why. */
export function assertExplained(detail: PolicyDetail, policyIds: readonly string[]): void {
  const { policyEvaluations, explanations = [], explanationsLeftOut = 0 } = detail;
  assert.deepEqual(policyEvaluations.map(({ policyId }) => policyId).sort(), policyIds.toSorted());
  for (const { policyId } of explanations) assert.ok(policyIds.includes(policyId), policyId);
  assert.ok(explanations.length <= 3);
  if (explanations.length > 0) assert.equal(explanations.length + explanationsLeftOut, policyIds.length);
}

type PolicyDetail = {
  policyEvaluations: readonly { policyId: string; outcome: string }[];
  explanations?: readonly { policyId: string; outcome: string }[];
  explanationsLeftOut?: number;
};

/** There are policies, none of them is about it, and those that might have allowed it say so. */
export function policyRefusalBy(policyIds: readonly string[]): Refusal {
  if (policyIds.length === 0) return policyRefusal;
  return {
    ...policyRefusal,
    details([{ policyEvaluations, explanations = [], explanationsLeftOut, ...detail }, ...others]) {
      assert.deepEqual(others, []);
      assert.deepEqual(detail, {
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        message: "No policies evaluated to outcome: Allow",
      });
      assertExplained({ policyEvaluations, explanations, explanationsLeftOut }, policyIds);
      for (const { outcome } of [...policyEvaluations, ...explanations]) assert.equal(outcome, "OUTCOME_DENY_IMPLICIT");
    },
  };
}

/** Of a recovery key wherever it does not belong. */
export const recoversOnly: Refusal = {
  status: 403,
  code: 7,
  errorCode: "REQUEST_NOT_AUTHORIZED",
  message:
    "request not authorized: a recovery key can do nothing but recover its user: add a passkey with recover_user and sign in with it",
};

export const stale: Refusal = {
  status: 400,
  code: 3,
  message: "request timestamp is outside the allowed window",
  errorCode: "REQUEST_INVALID",
};

export function invalid(message: string | RegExp, errorCode = ""): Refusal {
  return { status: 400, code: 3, message, errorCode };
}

export function notFound(message: string): Refusal {
  return { status: 404, code: 5, message };
}

export function exhausted(message: string | RegExp): Refusal {
  return { status: 429, code: 8, message };
}

export function unimplemented(message: string): Refusal {
  return { status: 501, code: 12, message };
}
