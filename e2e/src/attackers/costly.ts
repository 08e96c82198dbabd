/** Attackers who are members: requests that are allowed to be made, each as large and as laborious as its limits let it be. */
import { randomUUID } from "node:crypto";
import { bytesOf } from "../wire.ts";
import type { Assault, Attack, Target } from "./attack.ts";
import { longExpression } from "./expressions.ts";
import { createUserTag, mebibyte, stampedBy, whoami } from "./prepared.ts";

const perSecond = 20;

/** Fills what is left of the largest body, in a key that nobody knows. */
export function padded(value: object): Uint8Array {
  const bare = bytesOf({ ...value, pad: "" });
  return bytesOf({ ...value, pad: "x".repeat(mebibyte - bare.length) });
}

function envelope({ organizationId }: Target, type: string, parameters: object): object {
  return { type, timestampMs: String(Date.now()), organizationId, parameters };
}

const tag = { type: "ACTIVITY_TYPE_CREATE_USER_TAG", parameters: { userTagName: "Supposed", userIds: [] } };

/** As many drafts of such policies as are taken together. */
export function simulation(target: Target): object {
  const condition = longExpression();
  const add = Array.from({ length: Math.floor((128 * 1024) / (condition.length + 10)) }, (_, index) => ({
    policyName: `Draft ${index}`,
    effect: "EFFECT_ALLOW",
    condition: `${condition} || ${index} == 0`,
  }));
  return { organizationId: target.organizationId, activity: tag, policies: { add } };
}

/** As many drafts as are taken, with the longest names: each must be told from all others. */
function manyDrafts({ organizationId }: Target): object {
  const add = Array.from({ length: 1_000 }, (_, index) => ({
    policyName: `${index} `.padEnd(200, "é"),
    effect: "EFFECT_ALLOW",
    condition: "true",
  }));
  return { organizationId, activity: tag, policies: { add } };
}

export function policies(target: Target): object {
  const condition = longExpression();
  const policies = Array.from({ length: 100 }, () => ({
    policyName: randomUUID(),
    effect: "EFFECT_ALLOW",
    condition,
    notes: "",
  }));
  return envelope(target, "ACTIVITY_TYPE_CREATE_POLICIES", { policies });
}

/** Sends these in turn, each when the one before it has been answered, on a few connections. */
function pressed(make: (target: Target) => readonly Buffer[]): Attack["begin"] {
  return ({ target, open, often, isOver }: Assault) => {
    const requests = make(target);
    let turn = 0;
    let owed = 0;
    often(perSecond, () => {
      owed = Math.min(owed + 1, perSecond);
    });
    for (let i = 0; i < 4; i++) {
      open((socket) => {
        const next = (): void => {
          if (isOver()) return;
          if (owed < 1) {
            setTimeout(next, 10);
            return;
          }
          owed--;
          const request = requests[turn++ % requests.length];
          if (request !== undefined) socket.write(request);
        };
        socket.on("data", (chunk: Buffer) => {
          if (chunk.includes("HTTP/1.1 ")) next();
        });
        next();
      });
    }
  };
}

export const costlyAttacks = {
  "largest simulations": {
    says: `a member's simulations with 128 KiB of policies or 1,000 of them, up to ${perSecond} per second`,
    answers: [200, 429],
    begin: pressed((target) =>
      [simulation(target), manyDrafts(target)].map((body) =>
        stampedBy(target, "/public/v1/query/simulate_activity", body),
      ),
    ),
  },
  "largest bodies": {
    says: `a member's questions and activities of one MiB, up to ${perSecond} per second`,
    answers: [200, 429],
    begin: pressed((target) => [
      stampedBy(target, whoami, padded({ organizationId: target.organizationId })),
      ...Array.from({ length: 20 }, () =>
        stampedBy(
          target,
          createUserTag,
          padded(envelope(target, tag.type, { userTagName: randomUUID(), userIds: [] })),
        ),
      ),
    ]),
  },
} as const satisfies Record<string, Attack>;
