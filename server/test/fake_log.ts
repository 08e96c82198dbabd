/** A signer that appends whatever it is given to a log in memory: for tests of what the gateway makes of its replies. */
import { randomBytes } from "node:crypto";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { peekName } from "@keystead/core/log/leaf.ts";
import { formatCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { formatNote, signNote } from "@keystead/core/tlog/note.ts";
import { rootOf } from "@keystead/core/tlog/tree.ts";
import { keyOf } from "../../core/test/tlog/note_keys.ts";
import type { Reply, Request } from "../src/frames/messages.ts";
import type { SignerLink } from "../src/gateway/link/signer_link.ts";
import { sha256 } from "../src/state/digest.ts";

/** The bytes of a leaf as far as its name goes. */
export function namedLeaf(organizationId: string, boot: string, number: number): Uint8Array {
  const leaf = Buffer.concat([
    Buffer.of(2),
    fromHex(boot),
    Buffer.alloc(8),
    randomBytes(18),
    uuidToBytes(organizationId),
  ]);
  leaf.writeUInt32BE(number, 21);
  return Buffer.concat([leaf, randomBytes(32)]);
}

type Appended = Reply<"logTail">["leaves"][number];

export type FakeLog = {
  logId: string;
  origin: string;
  /** Hex. */
  publicKey: string;
  link: SignerLink;
  leaves: Appended[];
  /** What has been asked for, by kind. */
  asked: string[];
  /** Positions below have been forgotten. */
  checkpointSize: number;
  /** Replies to the next releases that never arrive. */
  losesReplies: number;
  /** How many leaves a portion of the tail has. */
  portion: number;
};

export function createFakeLog(): FakeLog {
  const logId = toHex(randomBytes(16));
  const origin = `keystead/test/${logId}`;
  const key = keyOf(origin);
  const known = new Set<string>();
  const ordinals = new Map<string, number>();

  function release({ rows }: Request<"release">): Reply<"release"> {
    return rows.map(({ leaf }) => {
      const name = peekName(leaf);
      if (name === undefined) throw new Fault("internal", "not a leaf");
      const { organizationId, boot, number } = name;
      const leafName = `${toHex(boot)} ${number}`;
      if (known.has(leafName)) return { kind: "released", value: { result: undefined, place: undefined } };
      known.add(leafName);
      const id = uuidFromBytes(organizationId);
      const ordinal = (ordinals.get(id) ?? 0) + 1;
      ordinals.set(id, ordinal);
      const entry = sha256(Buffer.concat([leaf, Buffer.from(String(ordinal))]));
      const position = fake.leaves.push({ organizationId, boot, number, ordinal, entry }) - 1;
      return { kind: "released", value: { result: undefined, place: { position, ordinal, entry } } };
    });
  }

  const answers = {
    release(request: Request<"release">) {
      const replies = release(request);
      if (fake.losesReplies === 0) return replies;
      fake.losesReplies -= 1;
      throw new Fault("unavailable", "the signer did not answer in time");
    },
    logTail({ from }: Request<"logTail">): Reply<"logTail"> {
      const first = Math.max(from, fake.checkpointSize);
      return { size: fake.leaves.length, first, leaves: fake.leaves.slice(first, first + fake.portion) };
    },
    checkpoint({ size }: Request<"checkpoint">): Reply<"checkpoint"> {
      if (size < fake.checkpointSize || size > fake.leaves.length)
        throw new Fault("failed_precondition", "not this size");
      const root = rootOf(fake.leaves.slice(0, size).map(({ entry }) => entry));
      fake.checkpointSize = size;
      const text = formatCheckpoint({ origin, size, root });
      return { note: formatNote({ text, signatures: [signNote(text, key, key.sign)] }) };
    },
  };

  const link = {
    async request(kind: keyof typeof answers, message: never) {
      fake.asked.push(kind);
      return answers[kind](message);
    },
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  } as unknown as SignerLink;

  const fake: FakeLog = {
    logId,
    origin,
    publicKey: toHex(key.publicKey),
    link,
    leaves: [],
    asked: [],
    checkpointSize: 0,
    losesReplies: 0,
    portion: 1_000,
  };
  return fake;
}
