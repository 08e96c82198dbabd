/**
 * Where the bytes to be signed send something, read by small decoders that share nothing with core/src: as the chains
 * read them, leniently, so that what a strict reader overlooks would show. `unreadable` stands for everything else.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, createBase58check, hex } from "@scure/base";
import { RLP } from "micro-eth-signer/core/rlp.js";

export const unreadable = "unreadable";

const base58check = createBase58check(sha256);

/** The token that the calls of these tests go to, and what they call it. */
export const token = `0x${"70".repeat(20)}`;

/** What a call of the token pays: recipients are the low twenty bytes of their words, whatever stands above them. */
function recipientsOf(data: Uint8Array): string[] {
  const padded = (at: number, length: number) => {
    const out = new Uint8Array(length);
    out.set(data.subarray(Math.min(at, data.length), Math.min(at + length, data.length)));
    return out;
  };
  const addressAt = (at: number) => `0x${hex.encode(padded(at + 12, 20))}`;
  const numberAt = (at: number) => Number(BigInt(`0x${hex.encode(padded(at, 32))}`));
  switch (hex.encode(data.subarray(0, 4))) {
    case "a9059cbb":
      return [addressAt(4)];
    case "23b872dd":
      return [addressAt(4 + 32)];
    case "2f3cb35b": {
      const start = 4 + numberAt(4);
      const count = numberAt(start);
      return count > 1_000 ? [unreadable] : Array.from({ length: count }, (_, i) => addressAt(start + 32 + 32 * i));
    }
    case "34fcd5be": {
      const start = 4 + numberAt(4);
      const count = numberAt(start);
      if (count > 1_000) return [unreadable];
      return Array.from({ length: count }, (_, i) => addressAt(start + 32 + numberAt(start + 32 + 32 * i)));
    }
    default:
      return [unreadable];
  }
}

function callTo(to: Uint8Array, data: Uint8Array): string[] {
  const address = `0x${hex.encode(to)}`;
  return address === token ? recipientsOf(data) : [address];
}

/** The position of `to` in each form; the data follows two later. */
const toPlaces: Record<number, number> = { 1: 4, 2: 5, 3: 5, 4: 5 };

export function ethereumDestinations(bytes: Uint8Array): string[] {
  const [first = 0] = bytes;
  const isLegacy = first >= 0xc0;
  const items = RLP.decode(isLegacy ? bytes : bytes.subarray(1)) as Uint8Array[];
  const at = isLegacy ? 3 : (toPlaces[first] ?? -1);
  return callTo(items[at] as Uint8Array, items[at + 2] as Uint8Array);
}

export function tempoDestinations(bytes: Uint8Array): string[] {
  const items = RLP.decode(bytes.subarray(1)) as unknown[];
  const calls = items[4] as [Uint8Array, Uint8Array, Uint8Array][];
  // Whoever is granted a key can send everything anywhere. (Delegations of code are signed by their own accounts.)
  const grants = items.slice(13).map(() => unreadable);
  return [...calls.flatMap(([to, , data]) => callTo(to, data)), ...grants];
}

const systemProgram = "11111111111111111111111111111111";
const tokenPrograms = ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"];

/** A cursor over bytes that says so when they end. */
function cursorOf(bytes: Uint8Array) {
  let at = 0;
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error("the bytes end too early");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const byte = () => take(1)[0] as number;
  const little = (length: number) => take(length).reduceRight((sum, part) => sum * 256 + part, 0);
  return { take, byte, little, isDone: () => at >= bytes.length };
}

/** What each instruction of the message pays; any other instruction is unreadable here. */
export function solanaDestinations(bytes: Uint8Array): string[] {
  const { take, byte } = cursorOf(bytes);
  const short = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const part = byte();
      value |= (part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
  };
  const many = <T>(read: () => T): T[] => Array.from({ length: short() }, read);
  const blob = () => take(short());
  many(() => take(64));
  let head = byte();
  if (head >= 0x80) head = byte();
  take(2);
  const keys = many(() => base58.encode(take(32)));
  take(32);
  const calls = many(() => ({ program: keys[byte()], accounts: blob(), data: blob() }));
  return calls.map(({ program = "", accounts, data }) => {
    const key = (place: number) => keys[accounts[place] ?? 255] ?? unreadable;
    if (program === systemProgram && hex.encode(data.subarray(0, 4)) === "02000000") return key(1);
    if (!tokenPrograms.includes(program)) return unreadable;
    if (data[0] === 3) return key(1);
    return data[0] === 12 || (data[0] === 26 && data[1] === 1) ? key(2) : unreadable;
  });
}

/** The fields of a protobuf message, all occurrences of each. */
function fieldsOf(bytes: Uint8Array): Map<number, (Uint8Array | bigint)[]> {
  const { take, byte, isDone } = cursorOf(bytes);
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const part = byte();
      value |= BigInt(part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
  };
  const fields = new Map<number, (Uint8Array | bigint)[]>();
  while (!isDone()) {
    const tag = varint();
    const value = (tag & 7n) === 2n ? take(Number(varint())) : varint();
    const number = Number(tag >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

export const tronToken = base58check.encode(Uint8Array.of(0x41, ...new Uint8Array(20).fill(0x70)));

/** Addresses of every contract's every occurrence. */
export function tronDestinations(bytes: Uint8Array): string[] {
  const inside = (fields: Map<number, (Uint8Array | bigint)[]>, number: number) =>
    (fields.get(number) ?? []).filter((value) => value instanceof Uint8Array);
  return inside(fieldsOf(bytes), 11).flatMap((content) => {
    const contract = fieldsOf(content);
    const type = contract.get(1)?.at(-1) ?? 0n;
    const values = inside(contract, 2).flatMap((any) => inside(fieldsOf(any), 2).map(fieldsOf));
    return values.flatMap((value) => {
      if (type !== 1n && type !== 31n) return [unreadable];
      const to = inside(value, 2).map((address) => base58check.encode(address));
      if (type === 1n) return to;
      if (to.some((address) => address !== tronToken)) return [unreadable];
      return inside(value, 4).flatMap((data) => recipientsOf(data));
    });
  });
}

/** The output scripts of the transaction inside a PSBT. */
export function bitcoinDestinations(bytes: Uint8Array): string[] {
  const { take, little } = cursorOf(bytes);
  const whole = take(5);
  if (hex.encode(whole) !== "70736274ff") throw new Error("not a PSBT");
  const sized = (cursor: ReturnType<typeof cursorOf>) => {
    const first = cursor.little(1);
    return first < 0xfd ? first : cursor.little(2 ** (first - 0xfc));
  };
  const outer = { take, little } as ReturnType<typeof cursorOf>;
  for (let length = sized(outer); length > 0; length = sized(outer)) {
    const key = take(length);
    const value = take(sized(outer));
    if (key.length !== 1 || key[0] !== 0) continue;
    const inner = cursorOf(value);
    inner.take(4);
    for (let left = sized(inner); left > 0; left--) {
      inner.take(36);
      inner.take(sized(inner));
      inner.take(4);
    }
    return Array.from({ length: sized(inner) }, () => {
      inner.take(8);
      return hex.encode(inner.take(sized(inner)));
    });
  }
  throw new Error("a PSBT without its transaction");
}
