/** Published addresses that fool fetchers, the vectors of the URL standard and of IDNA: 729, those of http also as https. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isIP } from "node:net";
import { type TestContext, test } from "node:test";
import { findVectors } from "../../../../core/test/vectors.ts";
import { startTrap } from "../../../test/issuer_server.ts";
import { findCheckedAddresses } from "./checked_addresses.ts";
import { FetchFailure } from "./fetch_failure.ts";
import { createFetchJson } from "./fetch_json.ts";
import { parseOutgoingUrl } from "./outgoing_url.ts";

type UrlVector = {
  input: string;
  base: string | null;
  failure?: boolean;
} & Partial<Record<"href" | "protocol" | "username" | "password" | "hostname" | "port" | "hash", string>>;
type NameVector = { input: string; output: string | null };

const rules = { egress: undefined };
const publicAddress = { address: "93.184.215.14", family: 4 } as const;

/** The name that would be looked up, or the address that would be connected to; undefined when it is refused. */
async function destinationOf(text: string): Promise<string | undefined> {
  let asked: string | undefined;
  const resolve = async (name: string) => {
    asked = name;
    return [publicAddress];
  };
  try {
    const url = parseOutgoingUrl(text, rules);
    const [first] = await findCheckedAddresses(url, { ...rules, resolve }, AbortSignal.timeout(60_000));
    return asked ?? first?.address;
  } catch (error) {
    assert.ok(error instanceof FetchFailure && error.kind === "refused", `${text}: ${error}`);
    return undefined;
  }
}

/** Counts the sockets that this process opens to anywhere. */
function countSockets(t: TestContext): () => number {
  let count = 0;
  const onSocket = () => {
    count += 1;
  };
  subscribe("net.client.socket", onSocket);
  t.after(() => unsubscribe("net.client.socket", onSocket));
  return () => count;
}

const asHttps = (text: string) => text.replace(/^http:(?=\/\/)/, "https:");

test("no address of the published list is connected to: as it is, as https, and to a port where somebody listens", async (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const list = vectors.json<{ url: string; expect: string }[]>("url-ssrf/ssrf-urls.json");
  assert.equal(list.length, 77);
  assert.ok(list.every(({ expect }) => expect === "refuse"));
  const trap = await startTrap(t, "0.0.0.0");
  const sockets = countSockets(t);
  // Names that the list means to be private are: a cloud's name server answers so.
  const resolve = async () => [{ address: "127.0.0.1", family: 4 } as const];
  const furtherPorts = new Set([String(trap.port), "80", "9001", "11111", "12346", "11211"]);
  const fetchJson = createFetchJson({ ...rules, resolve, furtherPorts });
  let count = 0;
  for (const { url } of list) {
    const onTrap = asHttps(url).replace(/^(https:\/\/[^/:[\]@\\]+|https:\/\/\[[^\]]+\])(:[0-9]+)?/, `$1:${trap.port}`);
    for (const spelling of [url, asHttps(url), onTrap]) {
      count += 1;
      await assert.rejects(fetchJson({ url: spelling }), { name: "FetchFailure", kind: "refused" }, spelling);
    }
  }
  assert.equal(count, 231);
  assert.equal(sockets(), 0, "sockets that were opened");
  assert.equal(trap.connections(), 0, "connections that arrived");
  t.diagnostic(`${count} spellings of ${list.length} addresses refused, ${sockets()} sockets opened`);
});

/** What the vector's own fields say, by other means than the code under test. */
function isFetched(
  { protocol, username, password, hostname = "", port, href = "" }: UrlVector,
  isHttps: boolean,
): boolean {
  const isAllowedScheme = protocol === "https:" || (isHttps && protocol === "http:" && port !== "443");
  if (!isAllowedScheme || username !== "" || password !== "" || href.includes("#")) return false;
  if (hostname.endsWith(".") || !["", "8443"].includes(port ?? "")) return false;
  if (hostname.startsWith("[")) return /^\[(2|3)/.test(hostname) && !/^\[(2001:(0?:|db8:)|2002:)/.test(hostname);
  return isIP(hostname) === 0 || !/^(0|10|127|169\.254|192\.(0\.[02]|168)|255)\./.test(hostname);
}

test("the vectors of the URL standard: what it cannot read is refused, and what it reads goes where it says", async (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const all = vectors.json<(UrlVector | string)[]>("url-ssrf/urltestdata.json");
  const list = all.filter((entry) => typeof entry !== "string");
  const wrong: unknown[] = [];
  let fetched = 0;
  for (const vector of list) {
    // One that is read against another is what that makes of it; the courier takes whole addresses alone.
    const text = vector.failure === true || vector.base === null ? vector.input : (vector.href ?? "");
    for (const isHttps of [false, true]) {
      const spelling = isHttps ? asHttps(vector.failure === true ? text : (vector.href ?? "")) : text;
      const destination = await destinationOf(spelling);
      const expected = vector.failure !== true && isFetched(vector, isHttps);
      const host = vector.hostname?.replace(/^\[(.*)\]$/, "$1");
      if (expected) fetched += 1;
      if (destination !== (expected ? host : undefined)) wrong.push({ spelling, destination, expected, host });
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(fetched > 100, `only ${fetched} were fetched`);
  assert.equal(list.length, 594);
});

test("names are looked up as IDNA writes them, and what it refuses is refused", async (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const list = vectors
    .json<(NameVector | string)[]>("url-ssrf/toascii.json")
    .filter((entry) => typeof entry !== "string");
  const wrong: unknown[] = [];
  for (const { input, output } of list) {
    const destination = await destinationOf(`https://${encodeURIComponent(input)}/`);
    const expected = output === null || output === "" || output.endsWith(".") ? undefined : output;
    if (destination !== expected) wrong.push({ input, destination, expected });
    const asHttp = await destinationOf(`http://${encodeURIComponent(input)}/`);
    if (asHttp !== undefined) wrong.push({ input, destination: asHttp, expected: undefined });
  }
  assert.deepEqual(wrong, []);
  assert.equal(list.length, 58);
});
