/** Everything that goes over the wire in a suite, held against the published document and counted. */
import assert from "node:assert/strict";
import { activities, activityForms } from "../generated/endpoints.ts";
import type { Answer } from "../wire.ts";
import { type Complaints, createChecker } from "./check.ts";
import { ownEndpoints, type Spelling, undocumentedEndpoints } from "./differences.ts";
import { readSwagger } from "./document.ts";

export type Exchange = {
  path: string;
  /** A text or an object. */
  body: unknown;
  /** Meant to be so, whatever it is refused for. */
  isMalformed?: boolean;
  spelling: Spelling;
  answer: Answer;
};

export type Traffic = {
  /** False without the document; then nothing is checked. */
  isChecked: boolean;
  /** How many requests, answers and refusals were found in order. */
  counts: { requests: number; answers: number; refusals: number };
  /** Fails when the request or its answer is not as published. */
  note(exchange: Exchange): void;
  /** Whether the document, too, finds fault with a body. True without the document. */
  faults(path: string, body: unknown): boolean;
};

/** Our words for a body that is not as its endpoint's schema says. Such a body need not fit the document either. */
const malformed =
  /^(bad request body|invalid request body|Invalid activity type|malformed organization ID provided)|: (field `[^`]*` must be one of |missing field `)/;

/** What the document cannot be asked about. */
const undescribed = [...ownEndpoints, ...undocumentedEndpoints];

export function createTraffic(): Traffic {
  const document = readSwagger();
  const counts = { requests: 0, answers: 0, refusals: 0 };
  if (document === undefined) return { isChecked: false, counts, note: () => undefined, faults: () => true };
  const checker = createChecker(document);

  /** The document describes the newest type of each path; older ones only by their intent. */
  const checkRequest = (path: string, body: unknown, spelling: Spelling): Complaints => {
    const { type, parameters } = body as { type?: unknown; parameters?: unknown };
    const form = typeof type === "string" ? activityForms.get(type) : undefined;
    if (form === undefined || form.type === activities[form.path].type) return checker.request(path, body, spelling);
    return [
      ...checker.definition("ActivityType", type, "request", spelling),
      ...checker.definition("Intent", { [form.intentKey]: parameters }, "request", spelling),
    ];
  };

  return {
    isChecked: true,
    counts,
    note({ path, body: sent, isMalformed = false, spelling, answer }) {
      if (undescribed.includes(path)) return;
      if (answer.status === 200) {
        refuse(checker.response(path, answer.json, spelling), `${path} answered`, answer.text);
        counts.answers++;
      } else {
        refuse(checker.definition("Status", answer.json, "response", spelling), `${path} refused`, answer.text);
        counts.refusals++;
        if (isMalformed || malformed.test(answer.json.message)) return;
      }
      const body = typeof sent === "string" ? JSON.parse(sent) : sent;
      refuse(checkRequest(path, body, spelling), `${path} was asked`, JSON.stringify(body));
      counts.requests++;
    },
    faults: (path, body) => undescribed.includes(path) || checkRequest(path, body, "published").length > 0,
  };
}

function refuse(complaints: Complaints, what: string, text: string): void {
  if (complaints.length > 0) assert.fail(`${what} not as published: ${complaints.join("; ")}: ${text.slice(0, 2_000)}`);
}
