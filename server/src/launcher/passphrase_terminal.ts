import { timingSafeEqual } from "node:crypto";
import { Refusal } from "./refusal.ts";

const enter = new Set([0x0a, 0x0d, 0x04]);
const erase = new Set([0x7f, 0x08]);
const interrupt = 0x03;
const eraseLine = 0x15;

/** Asks on the terminal without echo. Raw mode gives single bytes, so the passphrase never becomes a string. */
export async function askPassphrase(question: string): Promise<Uint8Array> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) throw new Refusal("KEYSTEAD_PASSPHRASE=ask needs a terminal; use KEYSTEAD_PASSPHRASE_FILE", 2);
  // Before the question: whoever answers at once must not be echoed either.
  stdin.setRawMode(true);
  stderr.write(question);
  const typed = new Uint8Array(1024);
  let length = 0;
  try {
    // Leaving the loop must not destroy stdin: a first start asks twice.
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      const bytes: Uint8Array = chunk;
      try {
        for (const byte of bytes) {
          if (enter.has(byte)) return typed.slice(0, length);
          if (byte === interrupt) throw new Refusal("interrupted");
          if (erase.has(byte)) length = beforeLastCharacter(typed, length);
          else if (byte === eraseLine) length = 0;
          else if (length < typed.length) typed[length++] = byte;
        }
      } finally {
        bytes.fill(0);
      }
    }
    throw new Refusal("the terminal was closed");
  } finally {
    typed.fill(0);
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

/** For a new root key: a slip of the finger would lock it up for ever. */
export async function askPassphraseTwice(): Promise<Uint8Array> {
  const first = await askPassphrase("new passphrase for the root key: ");
  const second = await askPassphrase("the same again: ");
  try {
    if (first.length === second.length && timingSafeEqual(first, second)) return first;
  } finally {
    second.fill(0);
  }
  first.fill(0);
  throw new Refusal("the two passphrases differ");
}

/** One character of UTF-8 may be several bytes; continuation bytes begin with the bits 10. */
function beforeLastCharacter(bytes: Uint8Array, length: number): number {
  let at = length;
  do at--;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80);
  return Math.max(at, 0);
}
