/**
 * One-time codes. No code is stored: it derives from a secret of the deployment and from its own id, so that every host makes the same
 * one of the same request, also after a crash, and there is nothing to steal or to set back. SPEC.md has the bytes.
 */
import { encode, fixed, struct, text, u8, u32 } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";

/** What a code may be written with. Crockford's base 32 has no I, L, O and U. */
export const codeAlphabets = {
  alphanumeric: "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
  numeric: "0123456789",
} as const;

export type CodeAlphabet = keyof typeof codeAlphabets;

/** The shortest and the longest code that may be asked for. */
export const codeLengths = { least: 6, most: 9 } as const;

export type CodeForm = { length: number; alphabet: CodeAlphabet };

/** HMAC-SHA-256 under one secret of the deployment, which stays with the maker of the function. */
export type KeyedHash = (content: Uint8Array) => Uint8Array;

/** The form is part of the derivation: of a code in another form nothing can be learned about this one. */
const codeLayout = struct({ otpId: fixed(16), length: u8, alphabet: text, block: u32 });

/**
 * The code as ASCII bytes, which the caller wipes. Each symbol is as likely as any other in each place: hash bytes beyond the largest
 * multiple of the alphabet's size are passed over.
 */
export function deriveCode(keyedHash: KeyedHash, otpId: Uint8Array, { length, alphabet }: CodeForm): Uint8Array {
  if (!Number.isInteger(length) || length < codeLengths.least || length > codeLengths.most) {
    throw new Fault("internal", `a code of ${length} characters`);
  }
  const symbols = codeAlphabets[alphabet];
  const usable = 256 - (256 % symbols.length);
  const code = new Uint8Array(length);
  let at = 0;
  for (let block = 0; at < length; block++) {
    const bytes = keyedHash(encode(codeLayout, { otpId, length, alphabet, block }));
    for (const byte of bytes) if (at < length && byte < usable) code[at++] = symbols.charCodeAt(byte % symbols.length);
    bytes.fill(0);
  }
  return code;
}

const separator = 0xfe;
const noSymbol = 0xff;

/** What each ASCII character stands for when somebody types it. */
const typedSymbols = new Uint8Array(128).fill(noSymbol);
for (const symbol of codeAlphabets.alphanumeric) {
  typedSymbols[symbol.charCodeAt(0)] = symbol.charCodeAt(0);
  typedSymbols[symbol.toLowerCase().charCodeAt(0)] = symbol.charCodeAt(0);
}
for (const [typed, meant] of ["O0", "o0", "I1", "i1", "L1", "l1"].map((pair) => [...pair] as [string, string])) {
  typedSymbols[typed.charCodeAt(0)] = meant.charCodeAt(0);
}
for (const mark of " -") typedSymbols[mark.charCodeAt(0)] = separator;

/** Room for a code with separators and for what surrounds a pasted one. */
const maxTypedLength = 64;

/**
 * Whether a typed text is this code, in either case, with O for 0, I or L for 1, and with spaces or hyphens between. How long it takes
 * depends on what was typed and not on the code.
 */
export function isCode(code: Uint8Array, typed: string): boolean {
  if (typed.length > maxTypedLength) return false;
  const symbols = new Uint8Array(maxTypedLength);
  let count = 0;
  for (let i = 0; i < typed.length; i++) {
    const symbol = typedSymbols[typed.charCodeAt(i)] ?? noSymbol;
    if (symbol !== separator) symbols[count++] = symbol;
  }
  let difference = count ^ code.length;
  for (let i = 0; i < code.length; i++) difference |= (symbols[i] ?? 0) ^ (code[i] ?? 0);
  return difference === 0;
}
