/** The first line: another method, target or version. */
import type { Random } from "../../../../core/test/seeded_random.ts";
import type { Draft, Mutator } from "../draft.ts";

function lined(name: string, bend: (draft: Draft, random: Random) => void): Mutator {
  return { name, at: "line", bend };
}

function aimed(name: string, bend: (target: string, random: Random) => string): Mutator {
  return lined(name, (draft, random) => {
    draft.target = bend(draft.target, random);
  });
}

export const lineMutators: readonly Mutator[] = [
  lined("another method", (draft, { pick }) => {
    draft.method = pick(["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "QUERY"]);
  }),
  lined("a method that is none", (draft, { pick }) => {
    draft.method = pick(["post", "POSTS", "P", "PO ST", "P\tOST", ""]);
  }),
  aimed("doubled slashes", (target) => target.replaceAll("/", "//")),
  aimed("a slash behind", (target) => `${target}/`),
  aimed("a query", (target, { pick }) => target + pick(["?", "?x=1", "?organizationId=x", "?/submit/delete_users"])),
  aimed("a fragment", (target) => `${target}#x`),
  aimed("an encoded slash", (target) => target.replace(/\/(?=[a-z0-9_]+$)/, "%2f")),
  aimed("an encoded letter", (target) =>
    target.replace(/[a-z](?=[a-z0-9_]*$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  ),
  aimed("a broken escape", (target, { pick }) => target + pick(["%", "%z", "%zz", "%c0%80", "%00"])),
  aimed("capitals", (target) => target.toUpperCase()),
  aimed("dots", (target, { pick }) => pick([target.replace("/v1/", "/./v1/"), target.replace("/v1/", "/v1/x/../")])),
  aimed("a semicolon", (target) => `${target};x=1`),
  aimed("a backslash", (target) => target.replace("/v1/", "\\v1/")),
  aimed(
    "the absolute form",
    (target, { pick }) => pick(["http://keystead.test", "http://other.test:1", "https://x"]) + target,
  ),
  aimed("a star", () => "*"),
  aimed("another endpoint", (target, { pick }) =>
    target.replace(/[a-z0-9_]+$/, pick(["whoami", "list_users", "create_user_tag", "sign_raw_payload"])),
  ),
  aimed("the other kind of endpoint", (target) =>
    target.includes("/query/") ? target.replace("/query/", "/submit/") : target.replace("/submit/", "/query/"),
  ),
  aimed("a long target", (target) => `${target}?${"x".repeat(30_000)}`),
  lined("HTTP/1.0", (draft) => {
    draft.version = "HTTP/1.0";
  }),
  lined("another version", (draft, { pick }) => {
    draft.version = pick([
      "HTTP/0.9",
      "HTTP/2.0",
      "HTTP/1.2",
      "HTTP/3",
      "http/1.1",
      "HTTP/1.1 ",
      "HTTP/1",
      "HTTPS/1.1",
      "",
    ]);
  }),
];
