/** The types of parameters as the SDK prints them, read back: `accounts: { path: string; name?: string | null; }[]`. */

export type Field = { name: string; isOptional: boolean; type: Type };

export type Type =
  | { kind: "text" | "number" | "flag" | "any" }
  | { kind: "words"; words: readonly string[] }
  | { kind: "list"; of: Type }
  | { kind: "object"; fields: readonly Field[] };

const plain: Readonly<Record<string, Type>> = {
  string: { kind: "text" },
  number: { kind: "number" },
  boolean: { kind: "flag" },
  unknown: { kind: "any" },
};

export function parseFields(parameters: readonly string[]): Field[] {
  return parameters.map((text) => new Reader(text).field());
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/"[^"]*"|\w+|\[\]|[^\s\w]/g) ?? [];
  }

  field(): Field {
    const name = this.#next();
    const isOptional = this.#takes("?");
    this.#expect(":");
    return { name, isOptional, type: this.#union() };
  }

  /** What may be null may be left out as well, and is not said twice. */
  #union(): Type {
    const all = [this.#element()];
    while (this.#takes("|")) all.push(this.#element());
    const words = all.flatMap((type) => (type?.kind === "words" ? type.words : []));
    const other = all.find((type) => type !== undefined && type.kind !== "words");
    return words.length > 0 ? { kind: "words", words } : (other ?? { kind: "any" });
  }

  /** Undefined is null. */
  #element(): Type | undefined {
    let type = this.#single();
    while (this.#takes("[]")) type = { kind: "list", of: type ?? { kind: "any" } };
    return type;
  }

  #single(): Type | undefined {
    if (this.#takes("{")) {
      const fields: Field[] = [];
      while (!this.#takes("}")) {
        fields.push(this.field());
        this.#expect(";");
      }
      return { kind: "object", fields };
    }
    if (this.#takes("(")) {
      const type = this.#union();
      this.#expect(")");
      return type;
    }
    const token = this.#next();
    if (token === "null") return undefined;
    if (token.startsWith('"')) return { kind: "words", words: [token.slice(1, -1)] };
    if (/^\d+$/.test(token)) return { kind: "words", words: [token] };
    return plain[token] ?? { kind: "any" };
  }

  #next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error("a type of the SDK ends too early");
    return token;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#takes(token))
      throw new Error(`a type of the SDK has \`${this.#tokens[this.#at]}\` in the place of ${token}`);
  }
}
