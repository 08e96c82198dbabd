/** What a column may hold, and what a row of such columns is in code. */

/** `?` marks a column that may be null. */
export type ColumnKind = "text" | "text?" | "integer" | "integer?" | "bytes" | "bytes?";

type Values = {
  text: string;
  "text?": string | null;
  integer: number;
  "integer?": number | null;
  bytes: Uint8Array;
  "bytes?": Uint8Array | null;
};

export type Row<T extends Record<string, ColumnKind>> = { -readonly [C in keyof T]: Values[T[C]] };
