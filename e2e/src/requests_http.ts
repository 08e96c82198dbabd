/** The part of a request that is plain HTTP: types, paths, methods, sizes and times. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { activities, queries } from "./generated/endpoints.ts";
import { assertIs, assertRefused, bytesOf, call, type Headers, send, sendRaw, stampFields, stampOf } from "./wire.ts";
import type { World } from "./world.ts";

const whoami = "/public/v1/query/whoami";
const createUserTag = "/public/v1/submit/create_user_tag";
const deleteUserTags = "/public/v1/submit/delete_user_tags";

export async function testHttp(t: TestContext, { server, organizationId, root, deputy }: World): Promise<void> {
  const { url } = server;
  const body = bytesOf({ organizationId });

  await t.test("a request is read whatever its content type says, and answered in application/json", async () => {
    const stamp = stampOf(stampFields(deputy.p256, body));
    const types = [
      "application/json",
      "application/json; charset=utf-8",
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/octet-stream",
      "",
      "rubbish",
      ";;;",
      "application/ json",
    ];
    for (const type of types) {
      const headers: Headers = [
        ["Content-Type", type],
        ["X-Stamp", stamp],
      ];
      const answer = await send(url, { path: whoami, headers, body });
      assert.equal(answer.status, 200, `${type}: ${answer.text}`);
      assert.equal(answer.headers["content-type"], "application/json");
    }
    assertIs(await send(url, { path: whoami, headers: [["X-Stamp", stamp]], body }), deputy);
    assertRefused(
      await send(url, {
        path: whoami,
        headers: [
          ["Content-Encoding", "gzip"],
          ["X-Stamp", stamp],
        ],
        body: gzipSync(body),
      }),
      { status: 400, code: 3, message: "bad request body: content encoding `gzip` is not accepted" },
    );
    const identity: Headers = [
      ["Content-Encoding", "identity"],
      ["X-Stamp", stamp],
    ];
    assertIs(await send(url, { path: whoami, headers: identity, body }), deputy);
  });

  await t.test("paths: doubled slashes are one, other methods are 405, other paths 404, all in JSON", async () => {
    for (const path of ["//public/v1/query/whoami", "/public//v1/query//whoami", `${whoami}?x=1`]) {
      const stamp = stampOf(stampFields(deputy.p256, body));
      assertIs(await send(url, { path, headers: [["X-Stamp", stamp]], body }), deputy);
    }
    for (const path of [whoami, createUserTag, deleteUserTags, "//public/v1/query/whoami"]) {
      for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
        const answer = await send(url, { method, path });
        assertRefused(answer, { status: 405, code: 12, message: "only POST is accepted here" });
        assert.equal(answer.headers.allow, "POST, OPTIONS");
      }
      assert.equal((await send(url, { method: "HEAD", path })).status, 405);
    }
    for (const path of ["/", "/public", "/public/v1/query", `${whoami}x`, `${whoami}/`, "/public/v1/submit/whoami"]) {
      for (const method of ["GET", "POST"]) {
        const message = `there is nothing at ${method} \`${path}\``;
        assertRefused(await send(url, { method, path }), { status: 404, code: 5, message });
      }
    }
    const published = "/public/v1/query/get_nonces";
    for (const method of ["GET", "POST"]) {
      const message = `\`${published}\` is a path of the published API that this server does not serve`;
      assertRefused(await send(url, { method, path: published }), { status: 501, code: 12, message });
    }
    assertRefused(await send(url, { path: "/public/v1/%zz" }), { status: 400, code: 3, message: /./ });
    for (const method of ["TRACE", "PROPFIND", "QUERY", "MKCOL"]) {
      const answer = await send(url, { method, path: whoami });
      assert.ok(answer.status >= 400 && answer.status < 500, `${method}: ${answer.status}`);
      assert.equal(typeof answer.json.code, "number");
    }
  });

  await t.test("browsers may call from anywhere, with every header that clients send", async () => {
    for (const path of [whoami, createUserTag, "/nothing"]) {
      const preflight = await send(url, {
        method: "OPTIONS",
        path,
        headers: [
          ["Origin", "https://app.example"],
          ["Access-Control-Request-Method", "POST"],
          ["Access-Control-Request-Headers", "content-type,x-stamp"],
        ],
      });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers["access-control-allow-origin"], "*");
      assert.match(String(preflight.headers["access-control-allow-methods"]), /\bPOST\b/);
      const allowed = new Set(String(preflight.headers["access-control-allow-headers"]).toLowerCase().split(/,\s*/));
      for (const name of [
        "content-type",
        "x-stamp",
        "x-stamp-webauthn",
        "x-stamp-attested",
        "x-session",
        "x-client-version",
        "x-auth-proxy-config-id",
        "x-captcha-token",
      ]) {
        assert.ok(allowed.has(name), name);
      }
    }
    for (const answer of [await call(url, whoami, root.p256, body), await send(url, { path: "/nothing" })]) {
      assert.equal(answer.headers["access-control-allow-origin"], "*");
      assert.match(String(answer.headers["access-control-expose-headers"]), /ratelimit-limit, ratelimit-remaining/);
    }
  });

  await t.test("a body of one MiB is read, a longer one is 413 however it is sent", async () => {
    const limit = 1024 * 1024;
    const of = (length: number) => {
      const empty = JSON.stringify({ organizationId, pad: "" });
      return bytesOf(JSON.stringify({ organizationId, pad: "x".repeat(length - empty.length) }));
    };
    assertIs(await call(url, whoami, deputy.ed25519, of(limit)), deputy);
    const tooLong = { status: 413, code: 3, message: `bad request body: larger than ${limit} bytes` };
    assertRefused(await call(url, whoami, deputy.ed25519, of(limit + 1)), tooLong);
    assertRefused(await call(url, createUserTag, deputy.ed25519, of(limit + 1)), tooLong);
    const chunk = `${(2 * limit).toString(16)}\r\n${"x".repeat(2 * limit)}\r\n0\r\n\r\n`;
    const head = `POST ${whoami} HTTP/1.1\r\nHost: x\r\n`;
    assert.match(await sendRaw(url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`), /^HTTP\/1.1 413 /);
    // Announced only: refused before a single byte of it arrives.
    assert.match(await sendRaw(url, `${head}Content-Length: 104857600\r\n\r\n`), /^HTTP\/1.1 413 /);
  });

  await t.test("what is not HTTP gets a JSON 400 and a closed connection", async () => {
    const smuggled = `POST ${whoami} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    for (const bytes of ["rubbish\r\n\r\n", smuggled, `POST ${whoami} HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n`]) {
      const answer = await sendRaw(url, bytes);
      assert.match(
        answer,
        /^HTTP\/1.1 400 Bad Request\r\ncontent-type: application\/json\r\n(.*\r\n)*connection: close/,
      );
      assert.equal(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))).code, 3);
    }
  });

  await t.test("what others on its way might read otherwise is refused, whatever its stamp", async () => {
    const text = Buffer.from(body).toString("utf8");
    const stamp = `X-Stamp: ${stampOf(stampFields(deputy.p256, body))}`;
    const length = `Content-Length: ${text.length}`;
    const chunks = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const request = (lines: string[], sent = text, version = "HTTP/1.1") =>
      `${[`POST ${whoami} ${version}`, stamp, ...lines].join("\r\n")}\r\n\r\n${sent}`;
    const answered = async (bytes: string) => {
      const answer = await sendRaw(url, bytes);
      return [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    };
    const last = "Connection: close";
    assert.deepEqual(await answered(request(["Host: x", last, length])), [200]);
    assert.deepEqual(await answered(request(["Host: x", last, "Transfer-Encoding: chunked"], chunks)), [200]);
    assert.deepEqual(await answered(request([length], text, "HTTP/1.0")), [200]);
    for (const [name, bytes] of Object.entries({
      "no host": request([length]),
      "two hosts": request(["Host: x", "Host: x", length]),
      "two lengths": request(["Host: x", length, length]),
      "a length and chunks": request(["Host: x", length, "Transfer-Encoding: chunked"], chunks),
      "an encoding that we do not undo": request(["Host: x", "Transfer-Encoding: gzip, chunked"], chunks),
      "chunks in HTTP/1.0": request(["Transfer-Encoding: chunked"], chunks, "HTTP/1.0"),
      "HTTP/2 in the first line": request(["Host: x", length], text, "HTTP/2.0"),
      "a folded header": request(["Host: x", "X-Note: a\r\n b", length]),
    })) {
      assert.deepEqual(await answered(bytes), [400], name);
    }
    // Each of these has an answer of its own, in this order.
    const whole = request(["Host: x", length]);
    assert.deepEqual(await answered(`${whole}${whole}rubbish\r\n\r\n`), [200, 200, 400]);
    assert.deepEqual(await answered(`CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`), [405]);
    assert.deepEqual(await answered(request(["Host: x", length, "Expect: miracles"])), [417]);
    // Behind a method that has no body, none is waited for.
    const unread = `GET ${whoami} HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\n\r\n`;
    assert.deepEqual(await answered(unread), [405]);
  });

  await t.test("a document of very many parts is refused before it is read", async () => {
    const many = `{"organizationId":"${organizationId}","x":[${"{},".repeat(100_000)}0]}`;
    const message = "bad request body: more than 32768 brackets, commas and colons";
    for (const path of [whoami, createUserTag]) {
      assertRefused(await call(url, path, deputy.p256, many), { status: 400, code: 3, message });
    }
    const few = `{"organizationId":"${organizationId}","x":[${"0,".repeat(32_000)}0]}`;
    assertIs(await call(url, whoami, deputy.p256, few), deputy);
  });

  await t.test("the service says that it lives, is ready, and which keys are its own", async () => {
    const get = (path: string) => send(url, { method: "GET", path });
    assert.deepEqual((await get("/healthz")).json, { status: "alive" });
    assert.deepEqual((await get("/readyz")).json, { status: "ready" });
    const { publicKeys } = (await get("/.well-known/keystead.json")).json;
    assert.deepEqual(Object.keys(publicKeys).sort(), [
      "clientSecretEncryption",
      "identity",
      "log",
      "notarizer",
      "otp",
      "signer",
    ]);
    for (const [name, key] of Object.entries(publicKeys)) {
      assert.match(String(key), name === "log" ? /^[0-9a-f]{64}$/ : /^04[0-9a-f]{128}$/);
    }
    const openapi = (await get("/openapi.json")).json;
    assert.match(openapi.openapi, /^3\.1\./);
    const served = [
      ...Object.keys(queries).map((name) => `/public/v1/query/${name}`),
      ...Object.keys(activities).map((name) => `/public/v1/submit/${name}`),
    ];
    const listed = Object.keys(openapi.paths).filter((path) => !path.startsWith("/v1/"));
    assert.deepEqual(listed.sort(), served.sort());
    assert.equal(Object.keys(openapi.paths).length - listed.length, 13, "those of the auth proxy");
    // Described and served: every path takes a POST, and a stranger's is refused for want of a stamp.
    for (const path of served) assert.equal((await send(url, { path, body })).json.errorCode, "SIGNATURE_MISSING");
    const metrics = await get("/metrics");
    assert.match(String(metrics.headers["content-type"]), /^text\/plain/);
    assert.match(metrics.text, /keystead_requests_total\{kind="query",path="whoami",status="200"\} \d+/);
    assert.doesNotMatch(metrics.text, /[0-9a-f]{8}-[0-9a-f]{4}-/); // Nobody's ids.
  });
}

/** One byte of a header per second, until the server has had enough. */
export function trickleHeaders(url: string): Promise<{ answer: string; ms: number }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const begun = performance.now();
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.write(`POST ${whoami} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    const timer = setInterval(() => socket.write("x"), 1_000);
    socket.on("data", (chunk) => (answer += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(timer);
      resolve({ answer, ms: performance.now() - begun });
    });
  });
}
