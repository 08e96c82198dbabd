/** A request in the making: from whose it is to how its bytes are handed over. At each stage mutators may have their way with it. */
import { isDeepStrictEqual } from "node:util";
import type { StampScheme } from "@keystead/core/crypto/stamp.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import type { KeyPair } from "../key_pairs.ts";
import type { Place, Stage as Places } from "../matrix/stage.ts";
import type { Person } from "../world.ts";
import type { Delivery } from "./raw_client.ts";
import { signFields } from "./sign.ts";

/** A request that is valid as it stands. */
export type Seed = {
  kind: "query" | "submit";
  path: string;
  places: Places;
  /** Where it is asked. */
  place: Place;
  /** Whose it is; a vote is not the proposer's. */
  callers: readonly Person[];
  // biome-ignore lint/suspicious/noExplicitAny: the bodies of all endpoints.
  value: any;
  /** A body and its stamps that were valid too, of the same caller, of another user and of another organization. */
  others: readonly { body: Buffer; key: KeyPair }[];
};

export const stages = [
  "whose",
  "value",
  "text",
  "bytes",
  "stamp",
  "tampered",
  "stamp text",
  "encoding",
  "headers",
  "line",
  "framing",
  "message",
  "delivery",
] as const;

export type MutationStage = (typeof stages)[number];

export type Draft = {
  seed: Seed;
  person: Person;
  key: KeyPair;
  scheme: StampScheme;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a mutator makes of it.
  value: any;
  text: string;
  body: Buffer;
  stamp: Record<string, unknown> & { publicKey: string; scheme: string; signature: string };
  stampText: string;
  stampHeader: string;
  headers: [name: string, value: string][];
  method: string;
  target: string;
  version: string;
  /** Framing headers, and the body as it goes over the wire. */
  framing: { headers: [name: string, value: string][]; bytes: Buffer };
  message: Buffer;
  delivery: Delivery;
};

export type Mutator = {
  name: string;
  at: MutationStage;
  /** False when there is nothing here that it could change. */
  bend(draft: Draft, random: Random): unknown;
};

const schemesOf = {
  API_KEY_CURVE_P256: ["SIGNATURE_SCHEME_TK_API_P256"],
  API_KEY_CURVE_SECP256K1: ["SIGNATURE_SCHEME_TK_API_SECP256K1", "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"],
  API_KEY_CURVE_ED25519: ["SIGNATURE_SCHEME_TK_API_ED25519"],
} as const satisfies Record<KeyPair["curve"], readonly StampScheme[]>;

export function useKey(draft: Draft, person: Person, { pick }: Random): void {
  draft.person = person;
  draft.scheme = pick(Object.values(schemesOf).flat());
  draft.key = pick(
    [person.p256, person.secp256k1, person.ed25519].filter(({ curve }) =>
      (schemesOf[curve] as readonly StampScheme[]).includes(draft.scheme),
    ),
  );
}

/** What happens between one stage and the next when nobody interferes. */
const steps: Record<MutationStage, (draft: Draft, random: Random) => void> = {
  whose: (draft, random) => useKey(draft, random.pick(draft.seed.callers), random),
  value(draft, { below }) {
    draft.value = structuredClone(draft.seed.value);
    // Half of the activities are new ones, and half repeat what was done.
    if (draft.value.timestampMs !== undefined && below(2) === 0) draft.value.timestampMs = freshTime();
  },
  text(draft) {
    draft.text = JSON.stringify(draft.value);
  },
  bytes(draft) {
    draft.body = Buffer.from(draft.text, "utf8");
  },
  stamp(draft) {
    draft.stamp = signFields(draft.key, draft.scheme, draft.body);
  },
  tampered: () => undefined,
  "stamp text"(draft) {
    draft.stampText = JSON.stringify(draft.stamp);
  },
  encoding(draft) {
    draft.stampHeader = Buffer.from(draft.stampText, "utf8").toString("base64url");
  },
  headers(draft) {
    draft.headers = [
      ["Host", "keystead.test"],
      ["Content-Type", "application/json"],
      ["X-Stamp", draft.stampHeader],
    ];
  },
  line(draft) {
    draft.method = "POST";
    draft.target = `/public/v1/${draft.seed.kind}/${draft.seed.path}`;
    draft.version = "HTTP/1.1";
  },
  framing(draft) {
    draft.framing = { headers: [["Content-Length", String(draft.body.length)]], bytes: draft.body };
  },
  message(draft) {
    draft.message = messageOf(draft);
  },
  delivery(draft) {
    draft.delivery = { pieces: [draft.message], ending: "stay" };
  },
};

let lastMs = 0;

function freshTime(): string {
  lastMs = Math.max(lastMs + 1, Date.now() - 1_000);
  return String(lastMs);
}

export function messageOf({ method, target, version, headers, framing }: Draft): Buffer {
  const lines = [...headers, ...framing.headers].map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([
    Buffer.from(`${[`${method} ${target} ${version}`, ...lines].join("\r\n")}\r\n\r\n`, "latin1"),
    framing.bytes,
  ]);
}

export type Mutant = {
  draft: Draft;
  /** Those mutators that have changed something. */
  applied: readonly Mutator[];
  /** Whether other bytes go over the wire than if nobody had interfered. What one has changed the next may have changed back. */
  isBent: boolean;
};

export function makeDraft(seed: Seed, mutators: readonly Mutator[], random: Random): Mutant {
  const draft = { seed } as Draft;
  const plain = { seed } as Draft;
  const applied: Mutator[] = [];
  for (const stage of stages) {
    steps[stage](draft, random);
    followPlainly(plain, draft, stage, random);
    for (const mutator of mutators) if (mutator.at === stage && bends(mutator, draft, random)) applied.push(mutator);
  }
  return { draft, applied, isBent: !Buffer.concat(draft.delivery.pieces).equals(plain.message) };
}

/** The same request without mutators: what is left to chance is the same, and so is a signature, which is another each time. */
function followPlainly(plain: Draft, draft: Draft, stage: MutationStage, random: Random): void {
  const { person, key, scheme, value, stamp } = draft;
  if (stage === "whose") Object.assign(plain, { person, key, scheme });
  else if (stage === "value") plain.value = structuredClone(value);
  else if (stage === "stamp" && isSignedAlike(plain, draft)) plain.stamp = { ...stamp };
  else steps[stage](plain, random);
}

function isSignedAlike(one: Draft, other: Draft): boolean {
  return one.key === other.key && one.scheme === other.scheme && one.body.equals(other.body);
}

/** Of what a mutator may change inside, and not only put something else in the place of. */
function copyOf({ value, stamp, headers, framing, ...rest }: Draft): Draft {
  return { ...rest, ...structuredClone({ value, stamp, headers, framing }) };
}

/** The one before it may have left nothing that could be read, and so nothing to bend. */
function bends({ bend }: Mutator, draft: Draft, random: Random): boolean {
  const before = copyOf(draft);
  try {
    return bend(draft, random) !== false && !isSame(draft, before);
  } catch {
    return false;
  }
}

/** In the order of a value's keys, too: it is the order in which they are written. */
function isSame(draft: Draft, before: Draft): boolean {
  return isDeepStrictEqual(copyOf(draft), before) && JSON.stringify(draft.value) === JSON.stringify(before.value);
}
