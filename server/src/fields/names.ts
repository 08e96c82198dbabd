import { Type } from "./schema.ts";

/** Characters that are not seen, end a line, or change the direction of writing, could make a name read as another to an approver. */
const unprintable = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\u115f\\u1160\\u3164\\uffa0";

/** Format characters that honest names need: within emoji, and in Indic and Arabic scripts. */
const joiners = "\\u200c\\u200d";

/** England, Scotland and Wales, which are spelled with tags. Other tags show as nothing. */
const taggedFlags =
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}";

/** White space; the blank of braille, which is none to Unicode but looks like it, counts as well. */
const space = "\\s\\u2800";
const ignorable = "\\p{Default_Ignorable_Code_Point}";

const pattern = `^(?![${space}${ignorable}]*$)(?:${taggedFlags}|[^${unprintable}]|[${joiners}])*$`;

/** A human-readable name, of which something can be seen. */
export function name(description: string) {
  return Type.String({ minLength: 1, maxLength: 255, pattern, description });
}

/**
 * What two names have in common that look the same to a person: compatibility forms, case, characters that are not seen and
 * the amount of white space do not tell them apart.
 */
export function foldName(name: string): string {
  // Nearly all names are ASCII, where normalising changes nothing and costs most. What is not seen goes first: it would keep a
  // letter and its accent from being composed.
  const plain = isAscii.test(name) ? name : name.replace(ignorables, "").normalize("NFKC");
  return plain.replace(spaces, " ").trim().toLowerCase();
}

const isAscii = /^[\x20-\x7e]*$/;
const ignorables = new RegExp(ignorable, "gu");
const spaces = new RegExp(`[${space}]+`, "gu");
