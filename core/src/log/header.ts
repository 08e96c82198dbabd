/** The link an organization's states are chained by. Layout and rules: SPEC.md in this folder. */
import { decode, encode, fixed, optional, struct, u8, u64, type ValueOf } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";

export const headerFormat = 1;

/** Of the MAC behind marked bytes (server/src/state/SPEC.md). */
export const macLength = 32;

/** One state of one organization: its place in the line, the state before it, and the digest of everything it holds. */
const headerLayout = struct({
  format: u8,
  organizationId: fixed(16),
  parentId: optional(fixed(16)),
  version: u64,
  previous: fixed(32),
  directory: fixed(32),
});

export type Header = ValueOf<typeof headerLayout>;

/** What stands before an organization's first state. */
export const noState = { version: 0, digest: new Uint8Array(32) } as const;

export function encodeHeader(header: Omit<Header, "format">): Uint8Array<ArrayBuffer> {
  return encode(headerLayout, { format: headerFormat, ...header });
}

/** Reads a header; one of another format is refused, never guessed at. */
export function decodeHeader(bytes: Uint8Array): Header {
  const header = decode(headerLayout, bytes);
  if (header.format !== headerFormat) throw new Fault("invalid_argument", `unknown header format ${header.format}`);
  return header;
}
