/** How many characters a text has as JSON Schema counts them: an astral one is one, and so is half of one that stands alone. */
export function codePointCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += isAstral(text, at) ? 2 : 1) count += 1;
  return count;
}

function isAstral(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
