import assert from "node:assert/strict";
import { createECDH } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { birthOf, keepIds, openBootstrap, rewriteUrls, urlOf } from "./bootstrap.ts";
import { dataFolderAt } from "./data_folder.ts";

const rootKey = new Uint8Array(32).fill(1);
const url = "http://127.0.0.1:8080";
const settings = { organizationName: "Keystead", rootPublicKey: undefined };
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function freshData(t: { after(run: () => void): void }) {
  const path = mkdtempSync(join(tmpdir(), "keystead-bootstrap-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return dataFolderAt(path);
}

const stored = (path: string) => JSON.parse(readFileSync(path, "utf8"));

test("the first start writes every field, readable to the owner alone", (t) => {
  const data = freshData(t);
  const made = openBootstrap(data, rootKey, url, settings);
  assert.deepEqual(Object.keys(stored(data.bootstrap)), [
    "baseUrl",
    "authProxyUrl",
    "dashboardUrl",
    "organizationId",
    "organizationName",
    "userId",
    "apiPublicKey",
    "apiPrivateKey",
    "authProxyConfigId",
  ]);
  assert.deepEqual(stored(data.bootstrap), made);
  assert.equal(statSync(data.bootstrap).mode & 0o777, 0o600);
  assert.equal(made.dashboardUrl, `${url}/`);
  const ids = [made.organizationId, made.userId, made.authProxyConfigId];
  for (const id of ids) assert.match(id, uuid4);
  assert.equal(new Set(ids).size, 3);
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(made.apiPrivateKey ?? "", "hex");
  assert.equal(pair.getPublicKey("hex", "compressed"), made.apiPublicKey);
});

test("a first start that was cut short gives the same ids when repeated, another root key gives others", (t) => {
  const [first, second, other] = [rootKey, rootKey, new Uint8Array(32).fill(2)].map((key) =>
    birthOf(openBootstrap(freshData(t), key, url, settings)),
  );
  assert.equal(first?.organizationId, second?.organizationId);
  assert.equal(first?.userId, second?.userId);
  assert.notEqual(first?.organizationId, other?.organizationId);
  // Written down: data folders depend on these.
  assert.equal(first?.organizationId, "b5a905fa-0a95-4fc9-9074-c615a4cdc8bd");
});

test("a file that is there stays as it is until the gateway listens; then its addresses change and nothing else", (t) => {
  const data = freshData(t);
  const { apiPrivateKey: _, ...made } = openBootstrap(data, rootKey, url, settings);
  writeFileSync(data.bootstrap, JSON.stringify({ ...made, remark: "mine" }), { mode: 0o600 });
  const before = readFileSync(data.bootstrap, "utf8");
  openBootstrap(data, rootKey, "http://127.0.0.1:9000", { ...settings, organizationName: "Other" });
  assert.equal(readFileSync(data.bootstrap, "utf8"), before);
  rewriteUrls(data, "http://127.0.0.1:9001");
  const next = "http://127.0.0.1:9001";
  assert.deepEqual(stored(data.bootstrap), {
    ...made,
    baseUrl: next,
    authProxyUrl: next,
    dashboardUrl: `${next}/`,
    remark: "mine",
  });
});

test("what the operator takes away while it runs, the key or the whole file, does not come back", (t) => {
  const data = freshData(t);
  const { apiPrivateKey: _, ...rest } = openBootstrap(data, rootKey, url, settings);
  writeFileSync(data.bootstrap, JSON.stringify(rest), { mode: 0o600 });
  rewriteUrls(data, "http://127.0.0.1:9001");
  assert.equal("apiPrivateKey" in stored(data.bootstrap), false);
  assert.equal(stored(data.bootstrap).baseUrl, "http://127.0.0.1:9001");
  rmSync(data.bootstrap);
  rewriteUrls(data, "http://127.0.0.1:9002");
  assert.equal(existsSync(data.bootstrap), false);
});

test("with a public key from outside there is no private key in the file", (t) => {
  const data = freshData(t);
  const rootPublicKey = createECDH("prime256v1").generateKeys("hex", "compressed");
  const made = openBootstrap(data, rootKey, url, { ...settings, rootPublicKey });
  assert.equal(made.apiPublicKey, rootPublicKey);
  assert.equal("apiPrivateKey" in stored(data.bootstrap), false);
});

test("a file of another root key, a broken one, and a lost one beside a database are refused without showing their text", (t) => {
  const data = freshData(t);
  openBootstrap(data, rootKey, url, settings);
  assert.throws(() => openBootstrap(data, new Uint8Array(32), url, settings), { message: /another root key/ });
  writeFileSync(data.bootstrap, '{"apiPrivateKey":"c0ffee",');
  assert.throws(
    () => openBootstrap(data, rootKey, url, settings),
    (error: Error) => !/c0ffee/.test(String(error.stack)),
  );
  rmSync(data.bootstrap);
  mkdirSync(data.database);
  writeFileSync(join(data.database, "keystead.db"), "");
  assert.throws(() => openBootstrap(data, rootKey, url, settings), {
    message: /^bootstrap.json missing, database present/,
  });
});

test("addresses name a host that this machine can reach", () => {
  assert.equal(urlOf("0.0.0.0", 80), "http://127.0.0.1:80");
  assert.equal(urlOf("::", 80), "http://[::1]:80");
  assert.equal(urlOf("::1", 80), "http://[::1]:80");
  assert.equal(urlOf("keys.example.com", 80), "http://keys.example.com:80");
});

test("ids that were kept stand for the first root key, whichever is in use now", (t) => {
  const data = freshData(t);
  const made = openBootstrap(data, rootKey, url, settings);
  const next = new Uint8Array(32).fill(2);
  assert.throws(() => openBootstrap(data, next, url, settings), {
    message: /was made with another root key.*root\.key\.ids/,
  });
  keepIds(data, made);
  keepIds(data, { ...made, organizationId: "another" });
  assert.deepEqual(openBootstrap(data, next, url, settings), made);
  assert.equal(statSync(data.rootKeyIds).mode & 0o777, 0o600);
  // Written anew for a key of the operator's, it is still the same organization.
  rmSync(data.bootstrap);
  const point = made.apiPublicKey;
  const again = openBootstrap(data, next, url, { ...settings, rootPublicKey: point });
  assert.deepEqual([again.organizationId, again.userId], [made.organizationId, made.userId]);
  for (const content of ["", "{}", '{"organizationId":1}']) {
    writeFileSync(data.rootKeyIds, content);
    assert.throws(() => openBootstrap(data, next, url, settings), {
      message: /root\.key\.ids is not what a rotation wrote/,
    });
  }
});
