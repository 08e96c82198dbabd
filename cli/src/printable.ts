/**
 * Text of others for a terminal: names and transactions may hold characters that move the cursor or turn the direction of
 * writing, and what somebody approves must be what they see.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === "\n" || character === "\t" ? " " : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
