/** What was written as JSON to be sent. */
import type { JsonText } from "../src/gateway/http/json_text.ts";

/** All of it, as it arrives. */
export function bytesOf({ parts }: JsonText): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}
