/**
 * Which requests may be let in, decided from the bytes that were sent and from who belongs where, with nothing of the server's own code:
 * a whole request, a body that means one thing, one stamp that verifies over exactly that body, by a key whose owner may speak there.
 */
import { createHash } from "node:crypto";
import { type ReadRequest, readRequests } from "./read_http.ts";
import { type Json, readStrictJson } from "./read_json.ts";
import { type JudgedCurve, readStamp } from "./read_stamp.ts";

export type Member = { organizationId: string; userId: string; isExpired: boolean };

/** Who belongs to one organization, by curve and compressed key. */
export type KnownOrganization = { parentId: string | undefined; members: ReadonlyMap<string, Member> };

export type Register = {
  /** By lower-case id. */
  organizations: ReadonlyMap<string, KnownOrganization>;
  /** All there are, as `submit/create_users`. */
  endpoints: ReadonlySet<string>;
};

export function memberKey(curve: JudgedCurve, publicKey: string): string {
  return `${curve} ${publicKey}`;
}

export type Passed = {
  kind: "query" | "submit";
  path: string;
  organizationId: string;
  caller: Member;
  value: { [key: string]: Json };
  body: Buffer;
  /** SHA-256 of the body, as activities spell it. */
  fingerprint: string;
  /** Answered in the published spelling of times and refusals, because its client calls itself so. */
  isPublished: boolean;
};

export type Verdict = { passes: true; request: Passed } | { passes: false; why: string };

/** What each whole request on a connection deserves, in order, and what is behind the last of them. */
export function judgeBytes(
  bytes: Buffer,
  register: Register,
): { verdicts: Verdict[]; methods: string[]; rest: "nothing" | "unfinished" | "malformed" } {
  const { requests, rest } = readRequests(bytes);
  const verdicts = requests.map((request) => judgeRequest(request, register));
  return { verdicts, methods: requests.map(({ method }) => method), rest };
}

const stampNames = ["x-stamp", "x-stamp-webauthn", "x-stamp-attested", "x-session"];

export function judgeRequest(request: ReadRequest, register: Register): Verdict {
  const valuesOf = (name: string) =>
    request.headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const [kind, path] = readTarget(request.target);
  if (request.method !== "POST") return refused("another method");
  if (kind === undefined || !register.endpoints.has(`${kind}/${path}`)) return refused("another path");
  const encodings = valuesOf("content-encoding");
  // Twice nothing is nothing, too; but who says it twice is not to be trusted with what it says.
  if (encodings.length > 1 || (encodings[0] ?? "identity") !== "identity") return refused("an encoded body");
  for (const expected of valuesOf("expect").flatMap((value) => value.split(/[ \t]*,[ \t]*/))) {
    if (request.minor === "1" && !/^100-continue$/i.test(expected)) return refused("an expectation");
  }
  const keys = valuesOf("idempotency-key");
  if (kind === "submit" && keys.length > 0 && (keys.length > 1 || !/^[\x21-\x7e]{1,255}$/.test(keys[0] ?? ""))) {
    return refused("an idempotency key");
  }
  const value = readStrictJson(request.body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refused("the body");
  const stamps = request.headers.filter(([name]) => stampNames.includes(name.toLowerCase()));
  const [stampHeader] = stamps;
  if (stamps.length !== 1 || stampHeader?.[0].toLowerCase() !== "x-stamp") return refused("not one stamp");
  const stamp = readStamp(stampHeader[1]);
  if (stamp === undefined) return refused("no stamp");
  const named = value.organizationId;
  if (typeof named !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(named)) {
    return refused("no organization id");
  }
  const organizationId = named.toLowerCase();
  const key = memberKey(stamp.curve, stamp.publicKey);
  const caller = findCaller(register, organizationId, key, path === "whoami" && kind === "query");
  if (caller === undefined) return refused("nobody there");
  if (caller.isExpired) return refused("an expired key");
  if (!stamp.holds(request.body)) return refused("the signature");
  const fingerprint = `sha256:${createHash("sha256").update(request.body).digest("hex")}`;
  const isPublished = valuesOf("x-client-version").some((version) => version.startsWith("@turnkey/"));
  const { body } = request;
  return { passes: true, request: { kind, path, organizationId, caller, value, body, fingerprint, isPublished } };
}

function refused(why: string): Verdict {
  return { passes: false, why };
}

/** Its own members first, then its parent's, then, where the endpoint looks there, the one below that knows the key. */
function findCaller(
  { organizations }: Register,
  organizationId: string,
  key: string,
  looksBelow: boolean,
): Member | undefined {
  const organization = organizations.get(organizationId);
  const own = organization?.members.get(key);
  if (organization === undefined || own !== undefined) return own;
  if (organization.parentId !== undefined) return organizations.get(organization.parentId)?.members.get(key);
  if (!looksBelow) return undefined;
  const below = [...organizations.values()]
    .filter(({ parentId }) => parentId === organizationId)
    .flatMap(({ members }) => members.get(key) ?? []);
  return below.length === 1 ? below[0] : undefined;
}

/**
 * Doubled slashes, encoded letters, a query, a fragment and the absolute form name the same resource; the absolute form with a fragment,
 * which the standard forbids, names none.
 */
function readTarget(target: string): [kind: "query" | "submit", path: string] | [undefined, undefined] {
  if (/^https?:\/\/[^#]*#/i.test(target)) return [undefined, undefined];
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/, "");
  const decoded = local
    .replace(/%([0-9a-f]{2})/gi, (whole, digits: string) => {
      const char = String.fromCharCode(Number.parseInt(digits, 16));
      return /[A-Za-z0-9._~-]/.test(char) ? char : whole;
    })
    .replace(/\/+/g, "/");
  const [, kind, path] = /^\/public\/v1\/(query|submit)\/([a-z0-9_]+)$/.exec(decoded) ?? [];
  return kind === undefined || path === undefined ? [undefined, undefined] : [kind as "query" | "submit", path];
}
