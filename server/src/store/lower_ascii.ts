/** What `lower` does in both databases, given columns that compare bytes: other alphabets keep their case. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
