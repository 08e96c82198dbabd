import Type from "typebox";

/** Characters that are not seen, or change the direction of writing, could make a name read as another to an approver. */
const unprintable = "\\p{Cc}\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff";

/** A human-readable name. */
export function name(description: string) {
  return Type.String({ minLength: 1, maxLength: 255, pattern: `^[^${unprintable}]*$`, description });
}

/** What two names have in common that look the same to a person: compatibility forms and case do not tell them apart. */
export function foldName(name: string): string {
  // Nearly all names are ASCII, where normalising changes nothing and costs most.
  return (isAscii.test(name) ? name : name.normalize("NFKC")).toLowerCase();
}

const isAscii = /^[\x20-\x7e]*$/;
