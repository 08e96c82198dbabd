/**
 * The judge's own JSON reader, a plain descent over bytes. It refuses what two readers might read differently (RFC 8259 §4, §8, §9):
 * duplicate keys, escapes in keys, `__proto__`, a byte order mark, lone surrogates, NUL, integers that a double cannot hold, and
 * more than 32 levels.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const maxDepth = 32;

/** The value, or undefined if the bytes are not one strict document. */
export function readStrictJson(bytes: Buffer): Json | undefined {
  const text = bytes.toString("utf8");
  // Whatever was not UTF-8 has been replaced, and does not come back.
  if (!Buffer.from(text, "utf8").equals(bytes) || text.startsWith("\ufeff")) return undefined;
  try {
    const reader = new Reader(text);
    const value = reader.value(0);
    reader.space();
    return reader.at === text.length ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const escapes: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  space(): void {
    while (" \t\r\n".includes(this.text[this.at] ?? "x")) this.at++;
  }

  take(expected: string): void {
    if (!this.text.startsWith(expected, this.at)) throw new SyntaxError(expected);
    this.at += expected.length;
  }

  /** Takes it if it is there. */
  has(expected: string): boolean {
    this.space();
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }

  value(depth: number): Json {
    this.space();
    const first = this.text[this.at];
    if (first === "{") return this.object(depth + 1);
    if (first === "[") return this.list(depth + 1);
    if (first === '"') return this.string().value;
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  object(depth: number): Json {
    if (depth > maxDepth) throw new SyntaxError("depth");
    const members = new Map<string, Json>();
    this.take("{");
    if (!this.has("}")) {
      do {
        this.space();
        const { value: key, isEscaped } = this.string();
        if (isEscaped || key === "__proto__" || members.has(key)) throw new SyntaxError("key");
        this.space();
        this.take(":");
        members.set(key, this.value(depth));
      } while (this.has(","));
      this.space();
      this.take("}");
    }
    return Object.fromEntries(members);
  }

  list(depth: number): Json {
    if (depth > maxDepth) throw new SyntaxError("depth");
    const items: Json[] = [];
    this.take("[");
    if (!this.has("]")) {
      do items.push(this.value(depth));
      while (this.has(","));
      this.space();
      this.take("]");
    }
    return items;
  }

  string(): { value: string; isEscaped: boolean } {
    this.take('"');
    let value = "";
    let isEscaped = false;
    for (;;) {
      const char = this.text[this.at++];
      if (char === undefined || char < " ") throw new SyntaxError("string");
      if (char === '"') break;
      if (char !== "\\") {
        value += char;
        continue;
      }
      isEscaped = true;
      const letter = this.text[this.at++] ?? "";
      if (letter === "u") {
        const digits = this.text.slice(this.at, this.at + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new SyntaxError("escape");
        value += String.fromCharCode(Number.parseInt(digits, 16));
        this.at += 4;
      } else {
        if (!Object.hasOwn(escapes, letter)) throw new SyntaxError("escape");
        value += escapes[letter];
      }
    }
    if (value.includes("\0") || !value.isWellFormed()) throw new SyntaxError("character");
    return { value, isEscaped };
  }

  number(): number {
    const match = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
    match.lastIndex = this.at;
    const [digits] = match.exec(this.text) ?? [];
    if (digits === undefined) throw new SyntaxError("number");
    this.at += digits.length;
    const value = Number(digits);
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw new SyntaxError("number");
    }
    return value;
  }
}
