/** Whether a JSON document means the same to every reader, judged by its tokens: the second opinion on our strict reader. */
import { isUtf8 } from "node:buffer";

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs;

export function isStrictJson(bytes: Buffer, maxMarks: number): boolean {
  if (!isUtf8(bytes)) return false;
  const text = bytes.toString();
  try {
    JSON.parse(text);
  } catch {
    return false; // A byte order mark, too, is refused here.
  }
  const tokens = text.match(token) ?? [];
  const marks = tokens.reduce((sum, one) => sum + (/^[{[]$/.test(one) ? 2 : /^[:,]$/.test(one) ? 1 : 0), 0);
  return marks <= maxMarks && areStrict(tokens);
}

function areStrict(tokens: readonly string[]): boolean {
  const open: Set<string>[] = [];
  for (const [i, one] of tokens.entries()) {
    if (one === "{" || one === "[") open.push(new Set());
    else if (one === "}" || one === "]") open.pop();
    else if (one.startsWith('"')) {
      if (!isStrictText(JSON.parse(one) as string)) return false;
      if (tokens[i + 1] !== ":") continue;
      const keys = open.at(-1);
      if (one.includes("\\") || one === '"__proto__"' || keys?.has(one)) return false;
      keys?.add(one);
    } else if (/^[-\d]/.test(one) && Math.abs(Number(one)) > Number.MAX_SAFE_INTEGER) return false;
    if (open.length > 32) return false;
  }
  return true;
}

function isStrictText(text: string): boolean {
  return !text.includes("\0") && Buffer.from(text).toString() === text;
}
