/**
 * What the log tells of one act that nobody can find out again: tags and digests of records, keys that were drawn, and what the memory
 * and the secrets answered. The secrets behind them are drawn anew, and are nobody's.
 */
import { randomUUID } from "node:crypto";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import {
  decodeImportTarget,
  decodeMemoryVerdict,
  type MemoryVerdict,
  type TakenImportTarget,
  type VerdictSubject,
} from "@keystead/core/log/outside_values.ts";
import type { Draws } from "../signer/secrets/draws.ts";
import { createDraws, newSessionKey, newTargetKey } from "../signer/secrets/draws.ts";
import type { Keyring } from "../signer/secrets/keyring.ts";
import type { Verdicts } from "../signer/secrets/verdicts.ts";
import { sha256 } from "../state/digest.ts";
import type { MadeRecord } from "../state/drawn.ts";
import { decodePage } from "../state/pages.ts";

/** The records that came with an act. `contents`: of the keys among them, where they are disclosed. */
export type ToldRecords = { made: readonly MadeRecord[]; contents: readonly Uint8Array[] };

export type ToldAct = {
  leaf: Leaf;
  own: ToldRecords;
  /** Of the organization that the act brings into the world. */
  born: ToldRecords;
  /** The public half of a session's key that was made. */
  sessionKey: Uint8Array | undefined;
};

export type Told = {
  /** What the next decision is told. */
  tell(act: ToldAct): void;
  drawsOf(keyring: Keyring): Draws;
  readonly acceptedAtMs: number;
  /** A refusal was told, and nothing says in which words. */
  readonly isRefused: boolean;
  /** What the leaf does not say, though it was asked: it is from before leaves did. */
  readonly unsaid: readonly string[];
  /** What the leaf says, though nobody asked. */
  readonly unasked: readonly string[];
};

const nothing = toHex(sha256(""));
const noTag = new Uint8Array(32);

export function createTold(): Told {
  const seed = randomUUID();
  let act: ToldAct | undefined;
  let tags: string[] = [];
  let verdicts: MemoryVerdict[] = [];
  let target: TakenImportTarget | undefined;
  let isRefused = false;
  let drawn = 0;
  const asked = new Set<VerdictSubject>();
  const unsaid = new Set<string>();
  /** By the digest of the page as it is written here, the one that it had. */
  const pages = new Map<string, Uint8Array>();

  /** Undefined where the leaf says nothing about it. The same answer again is noted once, so the last one stays. */
  function next(subject: VerdictSubject): MemoryVerdict | undefined {
    asked.add(subject);
    const own = verdicts.filter((verdict) => verdict.subject === subject);
    if (own.length > 1) verdicts = verdicts.filter((verdict) => verdict !== own[0]);
    return own[0];
  }

  /** Without a word, the act went on if it did not fail. */
  function answer(subject: VerdictSubject): MemoryVerdict {
    const said = next(subject);
    if (said === undefined && subject !== "serviceKey") unsaid.add(`what was said about \`${subject}\``);
    const isAllowed = said?.isAllowed ?? (subject === "serviceKey" || act?.leaf.event !== "FAILED");
    if (!isAllowed) isRefused = true;
    return said ?? { subject, isAllowed, times: [], ids: [] };
  }

  const toldVerdicts: Verdicts = {
    judge({ subject, standIn }) {
      const { isAllowed, times, ids } = answer(subject);
      if (!isAllowed) throw new Fault("failed_precondition", `refused then, by what was said about \`${subject}\``);
      return standIn({ times, ids: ids.map(uuidFromBytes) });
    },
    confirm: (subject) => answer(subject).isAllowed,
    note: () => undefined,
    noteTarget: () => undefined,
    target: undefined,
    fail: () => undefined,
    taken: [],
  };

  return {
    tell(told) {
      act = told;
      const { leaf, own, born } = told;
      tags = [...own.made, ...born.made].flatMap(({ kind, tag }) => (kind === "contractInterface" ? [] : toHex(tag)));
      verdicts = valuesOf(leaf, "memoryVerdict").map(decodeMemoryVerdict);
      target = valuesOf(leaf, "importTarget").map(decodeImportTarget)[0];
      isRefused = false;
      drawn = 0;
      asked.clear();
      unsaid.clear();
    },
    drawsOf: (keyring) => ({
      ...createDraws(keyring),
      // The same each time that one act is asked about: the signer looks for secrets that it knows already.
      random(length) {
        const own = act === undefined ? "" : `${toHex(act.leaf.boot)} ${act.leaf.number}`;
        const name = `${seed} ${own} ${drawn++}`;
        const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) => sha256(`${name} ${block}`));
        return new Uint8Array(Buffer.concat(blocks).subarray(0, length));
      },
      tag: () => tags.shift() ?? toHex(noTag),
      isBound: () => true,
      sessionKey() {
        if (act?.sessionKey === undefined) unsaid.add("the key that was made");
        const drawn = newSessionKey();
        return act?.sessionKey === undefined ? drawn : { ...drawn, publicKey: act.sessionKey };
      },
      targetKey() {
        if (target?.publicKey === undefined) unsaid.add("the key that was made");
        const drawn = newTargetKey();
        return target?.publicKey === undefined ? drawn : { ...drawn, publicKey: target.publicKey };
      },
      drawn(own) {
        if (act === undefined) return own;
        // Only a birth has no outcome of its own.
        const isBirth = toHex(own.outcome) === nothing;
        return isBirth
          ? { outcome: own.outcome, records: act.born.made }
          : { outcome: act.leaf.outcome, records: act.own.made };
      },
      pageDigest(name, content) {
        const digest = sha256(content);
        if (name !== "importTargets") return digest;
        const key = toHex(digest);
        const known = pages.get(key);
        if (known !== undefined) return known;
        if (target === undefined) {
          // Without keys it is the same whoever writes it.
          if (decodePage("importTargets", content).size > 0) unsaid.add("the page of imports");
          return digest;
        }
        pages.set(key, target.page);
        return target.page;
      },
      verdicts: () => toldVerdicts,
    }),
    get acceptedAtMs() {
      const accepted = verdicts.find(({ subject }) => subject === "accepted");
      return accepted?.times[0] ?? 0;
    },
    get isRefused() {
      return isRefused;
    },
    get unsaid() {
      return [...unsaid];
    },
    get unasked() {
      // Whatever is refused ends the act, and a refusal may come before what was asked first.
      if (isRefused) return [];
      const said = verdicts.map(({ subject }) => subject);
      return said.filter((subject) => !asked.has(subject) && !unprompted.includes(subject));
    },
  };
}

/** What leaves say without a question. */
const unprompted: readonly VerdictSubject[] = ["accepted", "unreleased"];

function valuesOf({ outside }: Leaf, kind: "memoryVerdict" | "importTarget"): Uint8Array[] {
  return outside.flatMap((each) => (each.kind === kind && each.value.kind === "bytes" ? [each.value.value] : []));
}

/** Records that were withheld from a decision, because their leaves were not released then. */
export function unreleasedIn(leaf: Leaf): string[] {
  const verdicts = valuesOf(leaf, "memoryVerdict").map(decodeMemoryVerdict);
  return verdicts.flatMap(({ subject, ids }) => (subject === "unreleased" ? ids.map(uuidFromBytes) : []));
}

/** The public half of a session's key, which its activity keeps with the result. */
export function sessionKeyIn(result: Uint8Array | undefined): Uint8Array | undefined {
  if (result === undefined) return undefined;
  try {
    const { publicKey } = JSON.parse(new TextDecoder().decode(result)) as { publicKey?: string };
    return publicKey === undefined ? undefined : fromHex(publicKey);
  } catch {
    return undefined;
  }
}
