/** What a leaf of each event has. SPEC.md in `core/src/log` is the table in words. */
import { decodeHeader, type Header, macLength } from "../header.ts";
import type { Leaf } from "../leaf.ts";
import type { LeafEvent, LeafGrounds } from "../leaf_words.ts";

type Shape = {
  grounds: readonly LeafGrounds[];
  header: "always" | "never" | "maybe";
  /** Acts of the operator belong to no organization's count. */
  isOperators: boolean;
};

const whyRun: readonly LeafGrounds[] = ["ROOT_QUORUM", "OWN_CREDENTIAL", "POLICY", "AUTH_PROXY"];

const shapes: Record<LeafEvent, Shape> = {
  COMPLETED: { grounds: whyRun, header: "maybe", isOperators: false },
  FAILED: { grounds: ["NONE"], header: "maybe", isOperators: false },
  REJECTED: { grounds: ["NONE"], header: "maybe", isOperators: false },
  SUBMITTED: { grounds: ["NONE"], header: "always", isOperators: false },
  VOTED: { grounds: ["NONE"], header: "always", isOperators: false },
  BIRTH: { grounds: [...whyRun, "OPERATOR"], header: "always", isOperators: false },
  DATABASE_ACCEPTED: { grounds: ["OPERATOR"], header: "never", isOperators: true },
  LOG_OPENED: { grounds: ["OPERATOR"], header: "always", isOperators: true },
  BOOTED: { grounds: ["OPERATOR"], header: "never", isOperators: true },
};

/** Whether the leaf has no ordinal of anybody. */
export function isOperators({ event }: Pick<Leaf, "event">): boolean {
  return shapes[event].isOperators;
}

/** Whether an act ends the activity. */
export function isEnd({ event }: Pick<Leaf, "event">): boolean {
  return event === "COMPLETED" || event === "FAILED" || event === "REJECTED";
}

/** The header in a leaf, without its MAC. */
export function headerIn({ header }: Pick<Leaf, "header">): { header: Header; content: Uint8Array } | undefined {
  if (header === undefined) return undefined;
  const content = header.subarray(0, Math.max(0, header.length - macLength));
  return { header: decodeHeader(content), content };
}

/** Why a leaf cannot be what its event says; undefined if it can. */
export function shapeFlaw(leaf: Leaf): string | undefined {
  const { event, grounds, header, evidence } = leaf;
  const shape = shapes[event];
  if (!shape.grounds.includes(grounds)) return `${event} with the grounds ${grounds}`;
  if (shape.header === "always" && header === undefined) return `${event} without a header`;
  if (shape.header === "never" && header !== undefined) return `${event} with a header`;
  const isStamped = grounds !== "OPERATOR";
  if (isStamped !== evidence.length > 0) return isStamped ? `${event} without evidence` : `${event} with a stamp`;
  const isByProxy = evidence.some(({ content }) => content.kind === "authProxy");
  if (grounds !== "NONE" && isByProxy !== (grounds === "AUTH_PROXY")) {
    return `the grounds ${grounds} do not fit the evidence`;
  }
  return undefined;
}
