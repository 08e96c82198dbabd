/**
 * The signer's signed word on which leaves it has released. Held against the leaves a host shows, it names every one that
 * was let out and is not there. Layout: SPEC.md in this folder.
 */
import type { Curves } from "../crypto/curves.ts";
import { toHex } from "../encoding/hex.ts";
import { decode, encode, fixed, list, struct, u8, u32, u64, type ValueOf } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";
import type { Leaf } from "./leaf.ts";

const statementLayout = struct({
  format: u8,
  deploymentId: fixed(16),
  timeMs: u64,
  /** Which part of how many this is; only all of them together say what was released. */
  page: u32,
  pages: u32,
  /** Leaf numbers, first and last inclusive, by the signer's boot. */
  ranges: list(struct({ boot: fixed(16), first: u64, last: u64 })),
});

export type ReleasedStatement = Omit<ValueOf<typeof statementLayout>, "format">;

/** So that a signature over a statement can never be one over something else. */
const domain = new TextEncoder().encode("keystead released leaves v1\n");

export function encodeStatement(statement: ReleasedStatement): Uint8Array<ArrayBuffer> {
  return encode(statementLayout, { format: 1, ...statement });
}

/** The bytes the log key signs. */
export function statementMessage(statement: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(domain.length + statement.length);
  message.set(domain);
  message.set(statement, domain.length);
  return message;
}

/** Reads a statement whose signature verifies under the deployment's log key; refused otherwise. */
export function openStatement(
  curves: Pick<Curves, "verifyEd25519">,
  logKey: Uint8Array,
  statement: Uint8Array,
  signature: Uint8Array,
): ReleasedStatement {
  if (!curves.verifyEd25519(logKey, statementMessage(statement), signature)) {
    throw new Fault("unauthenticated", "the statement of released leaves is not signed by the log key");
  }
  const value = decode(statementLayout, statement);
  if (value.format !== 1) throw new Fault("invalid_argument", `unknown statement format ${value.format}`);
  return value;
}

export type LeafName = Pick<Leaf, "boot" | "number">;

export type ReleasedCheck = {
  show(leaf: LeafName): void;
  /** Every leaf the signer released that was not shown, by name. */
  withheld(): LeafName[];
};

/** Takes all pages of a statement, then leaves one by one, in any order and number; only those not yet shown are kept in mind. */
export function createReleasedCheck(pages: readonly ReleasedStatement[]): ReleasedCheck {
  const missing = new Map<string, { boot: Uint8Array; numbers: Set<number> }>();
  for (const { boot, first, last } of pages.flatMap(({ ranges }) => ranges)) {
    const name = toHex(boot);
    const { numbers } = missing.get(name) ?? { numbers: new Set<number>() };
    for (let number = first; number <= last; number++) numbers.add(number);
    missing.set(name, { boot, numbers });
  }
  return {
    show: ({ boot, number }) => missing.get(toHex(boot))?.numbers.delete(number),
    withheld: () =>
      [...missing.values()].flatMap(({ boot, numbers }) => [...numbers].map((number) => ({ boot, number }))),
  };
}
