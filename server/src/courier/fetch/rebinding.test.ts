/** A name server that changes its mind. It is a real one, asked over UDP as the courier asks; the listeners are real, too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { patienceMs } from "../../../../core/test/patience.ts";
import { samples } from "../../../../core/test/samples.ts";
import { issuerCertificate, trustTestAuthority } from "../../../test/certificates.ts";
import { startNameServer } from "../../../test/dns_server.ts";
import { startHttp, startTrap } from "../../../test/issuer_server.ts";
import { createFetchJson, fetchLimits } from "./fetch_json.ts";

trustTestAuthority();

/** Of this machine's addresses, the one that stands for the outside. */
const outside = "127.0.0.2";
const inside = "127.0.0.1";
const patient = { ...fetchLimits, totalMs: patienceMs };
const rules = { egress: undefined, limits: patient, isPublic: (address: string) => address === outside };

test("a name that is public when it is checked and private when it is asked again is never connected to inside", async (t) => {
  const server = await startHttp(t, (_, response) => response.setHeader("content-type", "application/json").end("{}"), {
    host: outside,
    certificate: issuerCertificate,
  });
  const trap = await startTrap(t, inside, server.port);
  let count = 0;
  const { resolve, asked } = await startNameServer(t, (_, family) => {
    if (family === 6) return [];
    count += 1;
    return [count % 2 === 1 ? outside : inside];
  });
  const fetchJson = createFetchJson({ ...rules, resolve, furtherPorts: new Set([String(server.port)]) });
  const outcomes = { answered: 0, refused: 0 };
  for (let i = 0; i < samples.rebindings; i++) {
    try {
      await fetchJson({ url: `https://issuer.test:${server.port}/` });
      outcomes.answered += 1;
    } catch (error) {
      assert.equal((error as Error).message, `issuer.test:${server.port} has no public address`);
      outcomes.refused += 1;
    }
  }
  assert.deepEqual(outcomes, { answered: samples.rebindings / 2, refused: samples.rebindings / 2 });
  assert.equal(server.connections(), samples.rebindings / 2);
  assert.equal(trap.connections(), 0);
  assert.equal(asked.length, 2 * samples.rebindings, "one look-up for each fetch, of both families");
  t.diagnostic(`${samples.rebindings} fetches, ${trap.connections()} connections to the private address`);
});

test("an answer with one private address among public ones is refused as a whole", async (t) => {
  const trap = await startTrap(t, inside);
  const answers: string[][] = [
    [outside, inside],
    [inside, outside],
    [outside, outside, inside],
  ];
  for (const addresses of answers) {
    const { resolve } = await startNameServer(t, (_, family) => (family === 4 ? addresses : []));
    const fetchJson = createFetchJson({ ...rules, resolve, furtherPorts: new Set([String(trap.port)]) });
    await assert.rejects(fetchJson({ url: `https://issuer.test:${trap.port}/` }), { kind: "refused" });
  }
  const { resolve } = await startNameServer(t, (_, family) => (family === 4 ? [outside] : ["::1"]));
  const fetchJson = createFetchJson({ ...rules, resolve, furtherPorts: new Set([String(trap.port)]) });
  await assert.rejects(fetchJson({ url: `https://issuer.test:${trap.port}/` }), { kind: "refused" });
  assert.equal(trap.connections(), 0);
});

test("by the real registries, a name with any private address of either family is refused", async (t) => {
  const inner = ["10.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::1"];
  for (const address of inner) {
    const family = address.includes(":") ? 6 : 4;
    const { resolve } = await startNameServer(t, (_, asked) => {
      if (asked === family) return [address];
      return asked === 4 ? ["93.184.215.14"] : ["2606:4700::1111"];
    });
    const fetchJson = createFetchJson({ egress: undefined, limits: patient, resolve });
    await assert.rejects(fetchJson({ url: "https://issuer.test/" }), { kind: "refused" }, address);
  }
});

test("a name without addresses, one that does not exist and a private one are told in the same words", async (t) => {
  for (const addresses of [[], ["10.0.0.1"]]) {
    const { resolve } = await startNameServer(t, (_, family) => (family === 4 ? addresses : []));
    const fetchJson = createFetchJson({ egress: undefined, limits: patient, resolve });
    await assert.rejects(fetchJson({ url: "https://issuer.test/" }), { message: "issuer.test has no public address" });
  }
});

test("a name server that does not answer takes no longer than a fetch may", async (t) => {
  const { resolve } = await startNameServer(t, () => undefined);
  const fetchJson = createFetchJson({ egress: undefined, resolve, limits: { ...fetchLimits, totalMs: 100 } });
  await assert.rejects(fetchJson({ url: "https://issuer.test/" }), {
    kind: "timeout",
    message: "issuer.test did not answer within 0.1 seconds",
  });
});
