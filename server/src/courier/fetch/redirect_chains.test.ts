/** Servers that send a fetch on, at last to an address inside. Nobody goes there: the listener inside is a real one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { patienceMs } from "../../../../core/test/patience.ts";
import { samples } from "../../../../core/test/samples.ts";
import { seededRandom } from "../../../../core/test/seeded_random.ts";
import { issuerCertificate, trustTestAuthority } from "../../../test/certificates.ts";
import { startHttp, startTrap } from "../../../test/issuer_server.ts";
import { createFetchJson, fetchLimits } from "./fetch_json.ts";

trustTestAuthority();

const seed = 29;
/** Of this machine's addresses, the one that stands for the outside. */
const outside = "127.0.0.2";
const inside = "127.0.0.1";
const statuses = [300, 301, 302, 303, 305, 307, 308] as const;

test("a chain of redirects that ends inside is not followed by one step", async (t) => {
  const random = seededRandom(seed);
  let hops: { status: number; headers: Record<string, string> }[] = [];
  const server = await startHttp(
    t,
    (_, response) => {
      const { status, headers } = hops.shift() ?? { status: 200, headers: {} };
      response.writeHead(status, { "content-type": "application/json", ...headers }).end("{}");
    },
    { host: outside, certificate: issuerCertificate },
  );
  const trap = await startTrap(t, inside, server.port);
  const resolve = async (name: string) => [{ address: name === "issuer.test" ? outside : inside, family: 4 } as const];
  const fetchJson = createFetchJson({
    egress: undefined,
    limits: { ...fetchLimits, totalMs: patienceMs },
    resolve,
    isPublic: (address) => address === outside,
    furtherPorts: new Set([String(server.port)]),
  });
  const start = `https://issuer.test:${server.port}/`;
  const ends = [
    `http://${inside}:${server.port}/`,
    `https://${inside}:${server.port}/`,
    `https://inside.test:${server.port}/`,
    `//inside.test:${server.port}/`,
    `https://issuer.test@${inside}:${server.port}/`,
    `http://[::ffff:7f00:1]:${server.port}/`,
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
  ];
  /** `Location` is how it is said; the others are how some clients can be told. */
  const said = (to: string) =>
    random.pick([{ location: to }, { location: to, refresh: `0;url=${to}` }, { uri: to, location: to }]);
  for (let i = 0; i < samples.redirectChains; i++) {
    const length = 1 + random.below(5);
    hops = Array.from({ length }, (_, at) => ({
      status: random.pick(statuses),
      headers: said(at === length - 1 ? random.pick(ends) : random.pick([start, "/", `${start}next`])),
    }));
    await assert.rejects(fetchJson({ url: start }), { kind: "answer", message: /redirects are not followed$/ });
    assert.equal(server.connections(), i + 1, "one connection for each fetch");
  }
  assert.equal(trap.connections(), 0);
  t.diagnostic(
    `${samples.redirectChains} chains of redirects, ${trap.connections()} connections to the private address`,
  );
});

test("an answer that is none is not followed by its headers either", async (t) => {
  const trap = await startTrap(t, inside);
  const to = `http://${inside}:${trap.port}/`;
  const headers = { location: to, refresh: `0;url=${to}`, link: `<${to}>; rel="alternate"`, "content-location": to };
  const server = await startHttp(
    t,
    (_, response) => response.writeHead(200, { "content-type": "application/json", ...headers }).end("{}"),
    { host: outside, certificate: issuerCertificate },
  );
  const fetchJson = createFetchJson({
    egress: undefined,
    limits: { ...fetchLimits, totalMs: patienceMs },
    resolve: async () => [{ address: outside, family: 4 }],
    isPublic: (address) => address === outside,
    furtherPorts: new Set([String(server.port)]),
  });
  assert.deepEqual((await fetchJson({ url: `https://issuer.test:${server.port}/` })).value, {});
  assert.equal(trap.connections(), 0);
});
