import assert from "node:assert/strict";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { patienceMs } from "../../../../core/test/patience.ts";
import {
  expiredCertificate,
  issuerCertificate,
  otherCertificate,
  trustTestAuthority,
} from "../../../test/certificates.ts";
import { startHttp, startTrap } from "../../../test/issuer_server.ts";
import { selfSigned } from "../../../test/self_signed.ts";
import { createFetchJson, type FetchRules, fetchLimits } from "./fetch_json.ts";

trustTestAuthority();

const json = { "content-type": "application/json" };
/** Only tests of the time are in a hurry. */
const patient = { ...fetchLimits, totalMs: patienceMs };

/** Over http on this machine, as in development. */
async function served(t: TestContext, listener: RequestListener, limits = {}) {
  const server = await startHttp(t, listener);
  const fetchJson = createFetchJson({ egress: "loopback", limits: { ...patient, ...limits } });
  const url = `http://127.0.0.1:${server.port}/document`;
  return { fetchJson, url, server, get: () => fetchJson({ url }) };
}

/** Under a name that an address of this machine stands for. */
const named: FetchRules = {
  egress: undefined,
  limits: patient,
  resolve: async () => [{ address: "127.0.0.2", family: 4 }],
  isPublic: (address) => address === "127.0.0.2",
};

async function servedTls(t: TestContext, certificate: { key: string; cert: string }, listener: RequestListener) {
  const server = await startHttp(t, listener, { host: "127.0.0.2", certificate });
  const fetchJson = createFetchJson({ ...named, furtherPorts: new Set([String(server.port)]) });
  return { server, get: (name: string) => fetchJson({ url: `https://${name}:${server.port}/a?b=c` }) };
}

test("a document is fetched: one plain request under the name's host and certificate", async (t) => {
  const seen: unknown[] = [];
  const { get, server } = await servedTls(t, issuerCertificate, ({ method, url, headers, socket }, response) => {
    seen.push([method, url, headers, (socket as { servername?: unknown }).servername]);
    response.writeHead(200, { "content-type": "application/jwk-set+json; charset=utf-8" }).end('{"a":[1]}');
  });
  const { status, value, bytes } = await get("issuer.test");
  assert.deepEqual([status, value, Buffer.from(bytes).toString()], [200, { a: [1] }, '{"a":[1]}']);
  const headers = { host: `issuer.test:${server.port}`, accept: "application/json", "accept-encoding": "identity" };
  assert.deepEqual(seen, [["GET", "/a?b=c", { ...headers, connection: "close" }, "issuer.test"]]);
});

test("a POST sends its body and headers, and its answer is read for the statuses that are asked for", async (t) => {
  const seen: unknown[] = [];
  const { fetchJson, url } = await served(t, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    seen.push([request.method, request.headers["content-type"], Buffer.concat(parts).toString()]);
    response.writeHead(400, json).end('{"error":"invalid_grant"}');
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await fetchJson({ url, method: "POST", headers, body: "code=ü", statuses: [200, 400] });
  assert.deepEqual([answer.status, answer.value], [400, { error: "invalid_grant" }]);
  assert.deepEqual(seen, [["POST", "application/x-www-form-urlencoded", "code=ü"]]);
});

for (const [name, certificate, host] of [
  ["of another name", otherCertificate, "issuer.test"],
  ["that is over", expiredCertificate, "issuer.test"],
  ["that nobody vouches for", selfSigned, "localhost.test"],
] as const) {
  test(`a certificate ${name} is not trusted, and nothing is asked`, async (t) => {
    let asked = 0;
    const { get } = await servedTls(t, certificate, () => void asked++);
    await assert.rejects(get(host), { kind: "tls", message: /shows no certificate that vouches for it/ });
    assert.equal(asked, 0);
  });
}

test("a server without TLS is no server", async (t) => {
  const server = await startHttp(t, (_, response) => response.end("{}"), { host: "127.0.0.2" });
  const fetchJson = createFetchJson({ ...named, furtherPorts: new Set([String(server.port)]) });
  await assert.rejects(fetchJson({ url: `https://issuer.test:${server.port}/` }), { kind: "tls" });
});

for (const status of [300, 301, 302, 303, 307, 308]) {
  test(`an answer of ${status} is not followed, wherever it points`, async (t) => {
    const trap = await startTrap(t);
    for (const location of [`http://127.0.0.1:${trap.port}/`, "http://169.254.169.254/", "//[::1]/", "/document"]) {
      let asked = 0;
      const { get } = await served(t, (_, response) => {
        asked += 1;
        response.writeHead(status, { ...json, location }).end("{}");
      });
      await assert.rejects(get(), {
        kind: "answer",
        message: new RegExp(` answers ${status}; redirects are not followed`),
      });
      assert.equal(asked, 1);
    }
    assert.equal(trap.connections(), 0);
  });
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const refused: [name: string, answer: Answer, message: RegExp][] = [
  ["another status", (response) => response.writeHead(404, json).end('{"secret":1}'), / answers 404$/],
  ["another type", (response) => response.writeHead(200, { "content-type": "text/html" }).end("{}"), /else than JSON$/],
  ["no type", (response) => response.writeHead(200).end("{}"), /else than JSON$/],
  [
    "a type that only begins so",
    (response) => response.writeHead(200, { "content-type": "application/jsonp" }).end("{}"),
    /JSON$/,
  ],
  [
    "a compressed body",
    (response) => response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync("{}")),
    /with a compressed body$/,
  ],
  [
    "a body that is compressed and does not say so",
    (response) => response.writeHead(200, json).end(gzipSync("{}")),
    /with JSON that is not read: not (UTF-8|JSON)$/,
  ],
  ["no JSON", (response) => response.writeHead(200, json).end("secret"), /JSON that is not read: not JSON$/],
  ["a member twice", (response) => response.writeHead(200, json).end('{"a":1,"a":2}'), /not read: duplicate key$/],
  ["a byte order mark", (response) => response.writeHead(200, json).end("\ufeff{}"), /a byte order mark$/],
  ["too many members", (response) => response.writeHead(200, json).end(`[${"{},".repeat(10_000)}{}]`), /brackets/],
  [
    "a length beyond the limit",
    (response) => response.writeHead(200, { ...json, "content-length": 256 * 1024 + 1 }).write("{"),
    /with more than 256 KiB$/,
  ],
];
for (const [name, answer, message] of refused) {
  test(`an answer is refused in words without its content: ${name}`, async (t) => {
    const { get } = await served(t, (request, response) => answer(response, request));
    await assert.rejects(get(), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret/);
      assert.equal((error as { kind?: string }).kind, "answer");
      return true;
    });
  });
}

test("a body without end is cut off at its limit, and the longest that is allowed is read", async (t) => {
  let written = 0;
  const { get } = await served(t, (_, response) => {
    response.writeHead(200, json);
    const write = (): void => {
      if (response.destroyed) return;
      written += 64 * 1024;
      response.write(" ".repeat(64 * 1024), () => setImmediate(write));
    };
    write();
  });
  await assert.rejects(get(), { kind: "answer", message: /more than 256 KiB$/ });
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes`);
  const longest = await served(t, (_, response) =>
    response.writeHead(200, json).end(`{}${" ".repeat(256 * 1024 - 2)}`),
  );
  assert.deepEqual((await longest.get()).value, {});
});

test("a server that sends a byte at a time, or nothing, is given up when the time is over", async (t) => {
  const message = /did not answer within 0.3 seconds$/;
  const limits = { totalMs: 300 };
  const drip = await served(
    t,
    (_, response) => {
      response.writeHead(200, json);
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    },
    limits,
  );
  await assert.rejects(drip.get(), { kind: "timeout", message });
  const silent = await served(t, () => undefined, limits);
  await assert.rejects(silent.get(), { kind: "timeout", message });
});

test("a connection that breaks off, and one that becomes another protocol, is no answer", async (t) => {
  const broken = await served(t, (request) => request.socket.destroy());
  await assert.rejects(broken.get(), { kind: "unreachable" });
  const half = await served(t, (request, response) => {
    response.writeHead(200, { ...json, "content-length": 10 }).write("{");
    setImmediate(() => request.socket.destroy());
  });
  await assert.rejects(half.get(), { kind: "unreachable" });
  const upgraded = await served(t, (request) => {
    request.socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
  });
  await assert.rejects(upgraded.get(), { kind: "unreachable" });
});

test("headers without end are not read", async (t) => {
  const { get } = await served(t, (request) => {
    request.socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20 * 1024)}\r\n\r\n`);
  });
  await assert.rejects(get(), { kind: "unreachable" });
});

test("without KEYSTEAD_DEV_EGRESS nothing on this machine is asked, and with it nothing but what is written so", async (t) => {
  const server = await startHttp(t, (_, response) => response.writeHead(200, json).end("{}"));
  const furtherPorts = new Set([String(server.port)]);
  const closed = createFetchJson({ egress: undefined, furtherPorts });
  for (const host of ["127.0.0.1", "localhost", "[::1]", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"]) {
    for (const scheme of ["http", "https"]) {
      await assert.rejects(closed({ url: `${scheme}://${host}:${server.port}/` }), { kind: "refused" }, host);
    }
  }
  const resolve = async () => [{ address: "127.0.0.1", family: 4 } as const];
  const open = createFetchJson({ egress: "loopback", furtherPorts, resolve, limits: patient });
  for (const url of [
    "http://issuer.test",
    "https://issuer.test",
    "https://0.0.0.0",
    "https://10.0.0.1",
    "http://1.1.1.1",
  ]) {
    await assert.rejects(open({ url: `${url}:${server.port}/` }), { kind: "refused" }, url);
  }
  assert.equal(server.connections(), 0);
  for (const host of ["127.0.0.1", "localhost", "127.1"]) {
    assert.deepEqual((await open({ url: `http://${host}:${server.port}/` })).value, {}, host);
  }
});

test("an address with a user name, a fragment, a dot at its end or an odd port is refused before anything is looked up", async () => {
  let lookUps = 0;
  const resolve = async () => {
    lookUps += 1;
    return [];
  };
  const fetchJson = createFetchJson({ egress: undefined, resolve });
  const urls = ["https://u@a.test/", "https://:p@a.test/", "https://a.test/#", "https://a.test/#x", "https://a.test./"];
  for (const url of [...urls, "https://a.test:22/", "https://a.test:80/", "ftp://a.test/", "a.test", "https://"]) {
    await assert.rejects(fetchJson({ url }), { kind: "refused" }, url);
  }
  assert.equal(lookUps, 0);
});

test("proxy settings of the environment change nothing", async (t) => {
  const trap = await startTrap(t);
  const proxy = `http://127.0.0.1:${trap.port}`;
  const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = proxy;
  process.env.NODE_USE_ENV_PROXY = "1";
  t.after(() => {
    for (const [place, name] of names.entries()) {
      if (before[place] === undefined) delete process.env[name];
      else process.env[name] = before[place];
    }
    delete process.env.NODE_USE_ENV_PROXY;
  });
  const { get } = await served(t, (_, response) => response.writeHead(200, json).end("{}"));
  await get();
  assert.equal(trap.connections(), 0);
});

test("so many fetches run at once, to one host fewer, and those that wait get their turn", async (t) => {
  let running = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const { get } = await served(
    t,
    async (_, response) => {
      running += 1;
      most = Math.max(most, running);
      await gate.promise;
      running -= 1;
      response.writeHead(200, json).end("{}");
    },
    { perHost: 2, waiting: 3 },
  );
  const begun = Array.from({ length: 5 }, get);
  await assert.rejects(get(), { kind: "busy" });
  while (running < 2) await new Promise(setImmediate);
  gate.resolve();
  assert.equal((await Promise.all(begun)).length, 5);
  assert.equal(most, 2);
});
