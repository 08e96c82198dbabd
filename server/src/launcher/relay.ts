import type { Readable, Writable } from "node:stream";
import { printable } from "./process_messages.ts";

const longestLine = 65536;

/** Prints what a process prints, line by line: it must not write to the operator's terminal as it likes, nor in the launcher's name. */
export function relay(from: Readable, to: Writable, linePrefix: string): void {
  let rest = "";
  const print = (line: string) => {
    const text = printable(line, longestLine);
    to.write(`${isLogEntry(text) ? "" : linePrefix}${text}\n`);
  };
  from.setEncoding("utf8");
  from.on("error", () => {});
  from.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length >= longestLine) {
      lines.push(rest);
      rest = "";
    }
    for (const line of lines) print(line);
  });
  from.on("end", () => {
    if (rest) print(rest);
  });
}

/** Processes log in JSON for machines to read, and no line of the launcher looks like that. */
function isLogEntry(line: string): boolean {
  if (!line.startsWith("{")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
