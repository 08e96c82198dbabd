import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { openStatement } from "@keystead/core/oidc/issuer_statement.ts";
import { parseKeySet } from "@keystead/core/oidc/key_set.ts";
import { patienceMs } from "../../../../core/test/patience.ts";
import { createIssuerDocuments, discoveryPath, newPublishedKey } from "../../../test/issuer_documents.ts";
import { startHttp } from "../../../test/issuer_server.ts";
import { createStatementMac } from "../../outbox/statement_mac.ts";
import { checkWrittenAddress } from "../fetch/checked_addresses.ts";
import { createFetchJson, type FetchJson, fetchLimits } from "../fetch/fetch_json.ts";
import { createIssuers, type IssuersDependencies, issuerLimits } from "./issuers.ts";

const mac = createStatementMac(randomBytes(32));
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function start(changes: Partial<IssuersDependencies> = {}) {
  const clock = { nowMs: 1_800_000_000_000 };
  const notes: string[] = [];
  /** What was asked of an issuer that had never worked, each time. */
  const news: string[] = [];
  const issuers = createIssuers({
    fetchJson: createFetchJson({ egress: "loopback", limits: { ...fetchLimits, totalMs: patienceMs } }),
    checkAddress: (url) => checkWrittenAddress(url, { egress: "loopback" }),
    mac,
    allowed: undefined,
    now: () => clock.nowMs,
    note: (message) => notes.push(message),
    ...changes,
  });
  /** What the statement says: the ids of its keys, and when they were fetched. */
  const ask = async (issuer: string, newerThanMs = 0, isRegistered = false) => {
    const onNew = () => void news.push(issuer);
    const statement = openStatement(mac, await issuers.statementOf({ issuer, newerThanMs, isRegistered }, onNew));
    assert.equal(statement.issuer, issuer);
    return { kids: parseKeySet(statement.keys).map(({ kid }) => kid), fetchedAtMs: statement.fetchedAtMs };
  };
  return { clock, notes, news, ask };
}

/** An issuer on this machine with one key, `first`. */
async function published(t: TestContext, path = "") {
  const site = createIssuerDocuments();
  const { port } = await startHttp(t, site.listener);
  const issuer = `http://127.0.0.1:${port}${path}`;
  const publish = (...kids: string[]) => {
    site.documents["/keys"] = { keys: kids.map(newPublishedKey) };
  };
  site.documents[`${path.replace(/\/$/, "")}${discoveryPath}`] = { issuer, jwks_uri: `http://127.0.0.1:${port}/keys` };
  publish("first");
  return { ...site, issuer, publish, port };
}

test("a statement has the issuer's usable public keys, its exact name and the time, under the deployment's MAC", async (t) => {
  const { issuer, documents, asked } = await published(t);
  const secret = { ...newPublishedKey("secret"), d: "AAAA" };
  const other = { ...newPublishedKey("other"), use: "enc" };
  documents["/keys"] = {
    keys: [newPublishedKey("a"), secret, other, { kty: "oct", k: "AAAA" }, newPublishedKey("b")],
    x: 1,
  };
  const { ask, clock } = start();
  assert.deepEqual(await ask(issuer), { kids: ["a", "b"], fetchedAtMs: clock.nowMs });
  assert.deepEqual(asked, [discoveryPath, "/keys"]);
});

test("an issuer with a path, and one with a slash at its end, has its document there", async (t) => {
  for (const path of ["/tenant/v2.0", "/"]) {
    const { issuer } = await published(t, path);
    assert.deepEqual((await start().ask(issuer)).kids, ["first"]);
  }
});

test("keys are fetched again after half an hour, the document after a day", async (t) => {
  const { issuer, asked } = await published(t);
  const { ask, clock } = start();
  await ask(issuer);
  clock.nowMs += 30 * minuteMs - 1;
  await ask(issuer);
  assert.equal(asked.length, 2);
  clock.nowMs += 1;
  assert.equal((await ask(issuer)).fetchedAtMs, clock.nowMs);
  assert.deepEqual(asked, [discoveryPath, "/keys", "/keys"]);
  clock.nowMs += 24 * hourMs;
  await ask(issuer);
  assert.deepEqual(asked.slice(3), [discoveryPath, "/keys"]);
});

test("a wish for newer keys is granted once a minute, and rotated keys come with it", async (t) => {
  const { issuer, asked, publish } = await published(t);
  const { ask, clock } = start();
  const first = await ask(issuer);
  publish("second");
  clock.nowMs += minuteMs - 1;
  const early = {
    error: "unusable",
    message: /^issuer `http:.*` cannot be used: its keys were fetched within this minute/,
  };
  await assert.rejects(ask(issuer, first.fetchedAtMs), early);
  assert.deepEqual(await ask(issuer), first);
  clock.nowMs += 1;
  const second = { kids: ["second"], fetchedAtMs: clock.nowMs };
  assert.deepEqual(await Promise.all([ask(issuer, first.fetchedAtMs), ask(issuer, first.fetchedAtMs)]), [
    second,
    second,
  ]);
  await assert.rejects(ask(issuer, second.fetchedAtMs), early);
  assert.deepEqual(asked, [discoveryPath, "/keys", "/keys"]);
});

test("while an issuer is away its keys serve for less than an hour, and it is asked again in seconds", async (t) => {
  const { issuer, documents, asked, publish } = await published(t);
  const { ask, clock, notes } = start();
  const first = await ask(issuer);
  delete documents["/keys"];
  clock.nowMs += 40 * minuteMs;
  assert.deepEqual(await ask(issuer), first);
  assert.deepEqual(await ask(issuer), first);
  assert.deepEqual(asked.slice(2), ["/keys"]);
  assert.equal(notes.length, 1);
  clock.nowMs = first.fetchedAtMs + 55 * minuteMs;
  await assert.rejects(ask(issuer), { error: "unusable", message: /its keys: 127.0.0.1:[0-9]+ answers 404$/ });
  // The keys may have moved: the document is read anew.
  assert.deepEqual(asked.slice(3), [discoveryPath, "/keys"]);
  publish("again");
  clock.nowMs += 10_000;
  assert.deepEqual((await ask(issuer)).kids, ["again"]);
});

test("a clock that is set back makes no keys younger", async (t) => {
  const { issuer } = await published(t);
  const { ask, clock } = start();
  await ask(issuer);
  clock.nowMs -= hourMs;
  assert.equal((await ask(issuer)).fetchedAtMs, clock.nowMs);
});

const flaws: [name: string, document: (issuer: string) => unknown, message: RegExp][] = [
  ["of another issuer", (issuer) => ({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` }), /is of another issuer$/],
  ["without an issuer", (issuer) => ({ jwks_uri: `${issuer}/keys` }), /is of another issuer$/],
  ["that is a list", () => [], /is of another issuer$/],
  ["without keys", (issuer) => ({ issuer }), /has no `jwks_uri`$/],
  [
    "with keys that are no address",
    (issuer) => ({ issuer, jwks_uri: "keys" }),
    /its keys: the address cannot be read$/,
  ],
  [
    "with keys by ftp",
    (issuer) => ({ issuer, jwks_uri: "ftp://a.test/" }),
    /its keys: the address must begin with https/,
  ],
  [
    "with keys inside",
    (issuer) => ({ issuer, jwks_uri: "https://10.0.0.1/" }),
    /its keys: 10.0.0.1 has no public address$/,
  ],
  [
    "with a document for keys",
    (issuer) => ({ issuer, jwks_uri: `${issuer}${discoveryPath}` }),
    /its keys: no JSON Web Key Set$/,
  ],
];
for (const [name, document, message] of flaws) {
  test(`an issuer is not used, and is asked no more within a minute: a document ${name}`, async (t) => {
    const { issuer, documents, asked } = await published(t);
    documents[discoveryPath] = document(issuer);
    const { ask, clock, notes } = start();
    const failure = (error: Error) => {
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(`issuer \`${issuer}\` cannot be used: `), error.message);
      return true;
    };
    await assert.rejects(ask(issuer), failure);
    const before = asked.length;
    clock.nowMs += minuteMs - 1;
    await assert.rejects(ask(issuer), failure);
    assert.equal(asked.length, before);
    clock.nowMs += 1;
    await assert.rejects(ask(issuer), failure);
    assert.ok(asked.length > before);
    assert.deepEqual(notes, [], "a stranger's issuer is no news for the operator");
  });
}

/** Never called: counts. */
function countingFetch() {
  const urls: string[] = [];
  const fetchJson: FetchJson = async ({ url }) => {
    urls.push(url);
    throw new Error("not to be fetched");
  };
  return { urls, fetchJson };
}

test("an issuer has one spelling: anything else is refused before it is fetched or counted", async () => {
  const { urls, fetchJson } = countingFetch();
  const { ask } = start({ fetchJson, limits: { ...issuerLimits, newPerHour: 1 } });
  const odd = [
    "",
    "a.test",
    "https://A.test",
    "https://a.test:443",
    "https://a.test/x/../y",
    "https://a.test?x",
    "https://a.test/#",
  ];
  for (const issuer of [
    ...odd,
    " https://a.test",
    "https://a.test/%2e%2e/x",
    "https://a.test/.%2E/x",
    "https://a.test/\tx",
    "https://a.test:0443",
    "https://0x7f.1",
    "https://2130706433",
    "https:a.test",
    "https:///a.test",
    "https://\uff41.test",
    "https://a\u3002test",
    "https://a.test\\b",
    "https://ä.test",
    `https://a.test/${"x".repeat(512)}`,
  ]) {
    await assert.rejects(ask(issuer), { error: "unusable", message: /a plain https address without a query$/ }, issuer);
  }
  assert.deepEqual(urls, []);
});

test("an issuer with a user name, another scheme or an odd port is not asked for, and one on this machine neither", async () => {
  let lookUps = 0;
  const resolve = async () => {
    lookUps += 1;
    return [];
  };
  const { ask } = start({ fetchJson: createFetchJson({ egress: undefined, resolve }) });
  for (const issuer of [
    ...["https://user@a.test", "https://a.test@b.test", "https://user:secret@a.test", "http://a.test"],
    ...["https://a.test:22", "https://a.test:8080", "https://127.0.0.1", "https://[::1]", "https://[::ffff:a9fe:a9fe]"],
    ...["https://169.254.169.254/latest/meta-data", "https://a.test./", "ftp://a.test", "file:///etc"],
  ]) {
    await assert.rejects(ask(issuer), { error: "unusable" }, issuer);
  }
  assert.equal(lookUps, 0);
});

test("with KEYSTEAD_OIDC_ISSUERS no other issuer is asked, and those listed are not counted as new", async (t) => {
  const { issuer } = await published(t);
  const { ask, notes } = start({
    allowed: new Set([issuer, "http://127.0.0.1:1"]),
    limits: { ...issuerLimits, newPerHour: 0 },
  });
  assert.deepEqual((await ask(issuer)).kids, ["first"]);
  for (const other of [`${issuer}/`, "https://accounts.google.com", ""]) {
    await assert.rejects(ask(other), {
      error: "unusable",
      message: /KEYSTEAD_OIDC_ISSUERS of this server does not list it$/,
    });
  }
  await assert.rejects(ask("http://127.0.0.1:1"), { message: /its discovery document: 127.0.0.1:1 cannot be reached/ });
  assert.equal(notes.length, 1, "the operator hears of a listed one");
});

/** A real fetch of this machine, and names that no name server has. */
const fetchNames = () =>
  createFetchJson({
    egress: "loopback",
    resolve: async () => [],
    limits: { ...fetchLimits, totalMs: patienceMs },
  });
const busy = { error: "busy", message: /^too many new issuers/ };

test("so many new issuers are asked about in an hour; those that have worked are not held up by them", async (t) => {
  const { issuer } = await published(t);
  const { ask, clock, news } = start({ fetchJson: fetchNames(), limits: { ...issuerLimits, newPerHour: 3 } });
  await ask(issuer);
  for (const other of ["https://a.test", "https://b.test"]) await assert.rejects(ask(other), { error: "unusable" });
  await assert.rejects(ask("https://c.test"), busy);
  await assert.rejects(ask("https://b.test"), { error: "unusable" });
  assert.deepEqual(news, [issuer, "https://a.test", "https://b.test"]);
  clock.nowMs += 20 * minuteMs;
  await assert.rejects(ask("https://d.test"), { error: "unusable" });
  await assert.rejects(ask("https://e.test"), busy);
  // One that has failed is asked again, and counts again for the caller who named it.
  await assert.rejects(ask("https://a.test"), { error: "unusable" });
  assert.deepEqual(news.slice(3), ["https://d.test", "https://a.test"]);
  clock.nowMs += 20 * minuteMs;
  assert.equal((await ask(issuer)).fetchedAtMs, clock.nowMs);
  assert.equal(news.length, 5);
});

test("what is refused for how it is written costs nothing: addresses inside, odd ports, user names, http", async (t) => {
  const { issuer } = await published(t);
  const { urls, fetchJson } = countingFetch();
  const idle = start({ fetchJson, limits: { ...issuerLimits, newPerHour: 0 } });
  const { ask, news } = start({ limits: { ...issuerLimits, newPerHour: 1 } });
  const inside = Array.from({ length: 101 }, (_, n) => `https://10.0.0.${n}`);
  const others = [
    "https://[fe80::1]",
    "https://[fd00::1]",
    "https://169.254.169.254/latest",
    "https://192.168.0.1:8443",
  ];
  const odd = ["https://a.test:22", "https://u@a.test", "http://a.test", "https://a.test./", "nothing"];
  for (const name of [...inside, ...others, ...odd]) {
    await assert.rejects(ask(name), { error: "unusable" }, name);
    await assert.rejects(idle.ask(name), { error: "unusable" }, name);
  }
  assert.deepEqual([urls, news, idle.news], [[], [], []]);
  assert.deepEqual((await ask(issuer)).kids, ["first"]);
});

test("issuers where somebody is registered never wait for strangers', and have a bound of their own", async (t) => {
  const sites = await Promise.all([published(t), published(t), published(t)]);
  const [a = "", b = "", c = ""] = sites.map(({ issuer }) => issuer);
  const limits = { ...issuerLimits, newPerHour: 0, newAtOnce: 0, registeredPerHour: 2 };
  const { ask, clock, news } = start({ limits });
  for (const site of [a, b, c]) await assert.rejects(ask(site), busy);
  for (const site of [a, b, a]) assert.deepEqual((await ask(site, 0, true)).kids, ["first"]);
  await assert.rejects(ask(c, 0, true), busy, "a gateway that lies has no more than this");
  clock.nowMs += 30 * minuteMs;
  assert.deepEqual((await ask(c, 0, true)).kids, ["first"]);
  assert.deepEqual(news, []);
});

test("new issuers that are slow take some of the fetches, and leave the others", async (t) => {
  const { issuer } = await published(t);
  const gate = Promise.withResolvers<never>();
  const real = createFetchJson({ egress: "loopback", limits: { ...fetchLimits, totalMs: patienceMs } });
  const fetchJson: FetchJson = (request) => (request.url.includes("slow") ? gate.promise : real(request));
  const { ask, clock } = start({ fetchJson });
  await ask(issuer);
  const slow = Array.from({ length: issuerLimits.newAtOnce }, (_, place) => ask(`https://slow${place}.test`));
  await assert.rejects(ask("https://slow.test"), { error: "busy" });
  clock.nowMs += hourMs;
  assert.equal((await ask(issuer)).fetchedAtMs, clock.nowMs);
  gate.reject(new Error("over"));
  for (const begun of slow) await assert.rejects(begun, { message: "over" });
});

test("only so many are remembered, and the one used longest ago is forgotten first", async (t) => {
  const sites = await Promise.all([published(t), published(t), published(t)]);
  const [a, b, c] = sites.map(({ issuer }) => issuer);
  const { ask } = start({ limits: { ...issuerLimits, remembered: 2 } });
  for (const issuer of [a, b, a, c, a]) await ask(issuer ?? "");
  assert.deepEqual(
    sites.map(({ asked }) => asked.length),
    [2, 2, 2],
  );
  await ask(b ?? "");
  assert.equal(sites[1]?.asked.length, 4);
});
