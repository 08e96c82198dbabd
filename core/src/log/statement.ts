/**
 * The signer's word on how many leaves of one organization its log has. It is the text of a signed note (`../tlog/note.ts`), so that
 * people can read it. Layout: SPEC.md in this folder.
 */
import { isUuid } from "../encoding/uuid.ts";
import { malformed, parseNumber } from "../tlog/lines.ts";

export type LogStatement = {
  organizationId: string;
  /** Hex. */
  logId: string;
  /** How many leaves of the organization the log has: ordinals 1 to this one. */
  count: number;
  /** Of the whole log, when this was said. */
  size: number;
  timeMs: number;
  /** SHA-256 of the first organization's page `logs`, hex: no log can be left out. */
  logs: string;
};

const what = "log statement";
const firstLine = "keystead log statement v1";
const names = ["organization", "log", "count", "size", "time", "logs"] as const;

/** Writes the text, without signatures. */
export function formatLogStatement(statement: LogStatement): string {
  const { organizationId, logId, count, size, timeMs, logs } = statement;
  const values = [organizationId, logId, count, size, timeMs, logs];
  const text = `${firstLine}\n${names.map((name, index) => `${name} ${values[index]}\n`).join("")}`;
  parseLogStatement(text);
  return text;
}

/** Reads the text; each statement has one spelling. */
export function parseLogStatement(text: string): LogStatement {
  const [first, ...lines] = text.split("\n");
  if (first !== firstLine) throw malformed(what, "an unknown first line");
  if (lines.pop() !== "" || lines.length !== names.length) throw malformed(what, `not ${names.length + 1} lines`);
  const value = (name: (typeof names)[number]): string => {
    const line = lines[names.indexOf(name)] ?? "";
    if (!line.startsWith(`${name} `)) throw malformed(what, `no ${name}`);
    return line.slice(name.length + 1);
  };
  const organizationId = value("organization");
  if (!isUuid(organizationId) || organizationId !== organizationId.toLowerCase()) {
    throw malformed(what, "the organization is not a lower-case UUID");
  }
  const [logId, logs] = [value("log"), value("logs")];
  if (!/^[0-9a-f]{32}$/.test(logId)) throw malformed(what, "the log is not 32 hex digits");
  if (!/^[0-9a-f]{64}$/.test(logs)) throw malformed(what, "logs is not 64 hex digits");
  const [count, size, timeMs] = [value("count"), value("size"), value("time")].map((text) => parseNumber(what, text));
  if (count === undefined || size === undefined || timeMs === undefined || count > size) {
    throw malformed(what, "more leaves than the log has");
  }
  return { organizationId, logId, count, size, timeMs, logs };
}
