import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dataFolderAt } from "./data_folder.ts";
import { rootKeyProvider } from "./root_key.ts";
import { openRootKey, sealRootKey } from "./sealed_root_key.ts";

function freshData(t: { after(run: () => void): void }) {
  const path = mkdtempSync(join(tmpdir(), "keystead-root-key-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return dataFolderAt(path);
}

function passphraseFile(path: string, text: string) {
  writeFileSync(path, text, { mode: 0o600 });
  return { kind: "file", path } as const;
}

test("the first start creates 32 random bytes that only the owner may read, later starts read them", async (t) => {
  const data = freshData(t);
  const first = await (await rootKeyProvider(data, undefined)).open();
  assert.equal(first.length, 32);
  assert.notDeepEqual(first, new Uint8Array(32));
  assert.equal(statSync(data.rootKey).mode & 0o777, 0o600);
  assert.deepEqual(new Uint8Array(readFileSync(data.rootKey)), first);
  const again = await rootKeyProvider(data, undefined);
  assert.deepEqual(await again.open(), first);
  assert.match(again.describe(), /^file .*root\.key$/);
});

test("each opening gives its own copy, so wiping one leaves the next whole", async (t) => {
  const data = freshData(t);
  const source = passphraseFile(join(data.path, "passphrase"), "correct horse\n");
  for (const provider of [await rootKeyProvider(freshData(t), undefined), await rootKeyProvider(data, source)]) {
    const one = await provider.open();
    const copy = one.slice();
    one.fill(0);
    assert.deepEqual(await provider.open(), copy);
  }
});

test("a root key that others may read, or of another size, is refused", async (t) => {
  const data = freshData(t);
  const provider = await rootKeyProvider(data, undefined);
  for (const mode of [0o640, 0o604, 0o660, 0o644]) {
    chmodSync(data.rootKey, mode);
    await assert.rejects(provider.open(), { name: "Refusal", message: /chmod 600/ });
  }
  chmodSync(data.rootKey, 0o600);
  for (const size of [0, 31, 33, 64]) {
    writeFileSync(data.rootKey, new Uint8Array(size));
    await assert.rejects(provider.open(), { name: "Refusal", message: new RegExp(`has ${size} bytes, not 32`) });
  }
});

test("no root key is made beside data that an earlier one sealed", async (t) => {
  for (const folder of ["database", "signer"] as const) {
    const data = freshData(t);
    mkdirSync(data[folder]);
    writeFileSync(join(data[folder], "x"), "");
    const source = passphraseFile(join(data.path, "passphrase"), "correct horse");
    for (const provider of [undefined, source]) {
      await assert.rejects(rootKeyProvider(data, provider), { message: /^root key missing, database present/ });
    }
    assert.equal(existsSync(data.rootKey) || existsSync(data.sealedRootKey), false);
  }
});

test("a left-over of a first start that was cut short is replaced", async (t) => {
  const data = freshData(t);
  writeFileSync(`${data.rootKey}.new`, "half");
  assert.equal((await (await rootKeyProvider(data, undefined)).open()).length, 32);
  assert.equal(existsSync(`${data.rootKey}.new`), false);
});

test("a passphrase seals the root key; the right one opens it, with or without a line end", async (t) => {
  const data = freshData(t);
  const file = join(data.path, "passphrase");
  const first = await (await rootKeyProvider(data, passphraseFile(file, "correct horse"))).open();
  assert.equal(existsSync(data.rootKey), false);
  assert.equal(statSync(data.sealedRootKey).mode & 0o777, 0o600);
  assert.equal(readFileSync(data.sealedRootKey).includes(first), false);
  const again = await rootKeyProvider(data, passphraseFile(file, "correct horse\r\n"));
  assert.deepEqual(await again.open(), first);
  assert.match(again.describe(), /^passphrase over/);
});

test("while a rotation is not finished, where the key comes from says so, until it is", async (t) => {
  const [plain, sealed] = [freshData(t), freshData(t)];
  const source = passphraseFile(join(sealed.path, "passphrase"), "correct horse");
  for (const [data, from] of [
    [plain, undefined],
    [sealed, source],
  ] as const) {
    assert.doesNotMatch((await rootKeyProvider(data, from)).describe(), /rotation/);
    await rootKeyProvider(data, from, true);
    const provider = await rootKeyProvider(data, from);
    assert.match(provider.describe(), /rotation was begun and is not finished.*`npx keystead keys rotate`/);
    provider.finishRotation();
    assert.doesNotMatch(provider.describe(), /rotation/);
  }
});

test("a wrong, short or readable passphrase is refused", async (t) => {
  const data = freshData(t);
  const file = join(data.path, "passphrase");
  await assert.rejects(rootKeyProvider(data, passphraseFile(file, "short\n")), { message: /at least 8/ });
  assert.equal(existsSync(data.sealedRootKey), false);
  await rootKeyProvider(data, passphraseFile(file, "correct horse"));
  await assert.rejects(rootKeyProvider(data, passphraseFile(file, "correct hors")), {
    name: "Refusal",
    message: "wrong passphrase for the root key",
  });
  chmodSync(file, 0o644);
  await assert.rejects(rootKeyProvider(data, { kind: "file", path: file }), { message: /chmod 600/ });
});

test("settings that do not fit the files are refused instead of making a second root key", async (t) => {
  const plain = freshData(t);
  await rootKeyProvider(plain, undefined);
  const source = passphraseFile(join(plain.path, "passphrase"), "correct horse");
  await assert.rejects(rootKeyProvider(plain, source), {
    message: /is not sealed.*set KEYSTEAD_DATA to a new folder, or delete this one if it was never used/,
  });
  const sealed = freshData(t);
  await rootKeyProvider(sealed, source);
  await assert.rejects(rootKeyProvider(sealed, undefined), { message: /needs its passphrase/ });
  writeFileSync(sealed.rootKey, new Uint8Array(32), { mode: 0o600 });
  await assert.rejects(rootKeyProvider(sealed, source), { message: /^both/ });
});

test("every changed byte of a sealed root key is noticed", () => {
  const passphrase = Buffer.from("correct horse");
  const key = new Uint8Array(32).fill(7);
  const sealed = sealRootKey(key, passphrase);
  assert.equal(sealed.length, 106);
  assert.deepEqual(openRootKey(sealed, passphrase), key);
  for (const at of [0, 4, 5, 9, 12, 13, 14, 29, 30, 45, 46, 57, 58, 89, 90, 105]) {
    const changed = sealed.slice();
    changed[at] = (changed[at] ?? 0) ^ 0x80;
    assert.throws(() => openRootKey(changed, passphrase), { name: "Refusal" }, `byte ${at}`);
  }
  for (const bad of [sealed.subarray(1), new Uint8Array(107), new Uint8Array(0)]) {
    assert.throws(() => openRootKey(bad, passphrase), { message: /unknown format/ });
  }
});

test("a rotation puts the next root key beside the other, hands out both, and ends with the next alone", async (t) => {
  for (const sealed of [false, true]) {
    const data = freshData(t);
    const source = sealed ? passphraseFile(join(data.path, "passphrase"), "correct horse") : undefined;
    const path = sealed ? data.sealedRootKey : data.rootKey;
    const old = await (await rootKeyProvider(data, source)).open();
    const rotating = await (await rootKeyProvider(data, source, true)).open();
    assert.equal(rotating.length, 64);
    assert.deepEqual(rotating.subarray(0, 32), old);
    const next = rotating.slice(32);
    assert.notDeepEqual(next, old);
    assert.equal(statSync(`${path}.next`).mode & 0o777, 0o600);
    // Started again, as a rotation or not: the same two keys.
    const again = await rootKeyProvider(data, source, true);
    assert.deepEqual(await again.open(), rotating);
    assert.deepEqual(await (await rootKeyProvider(data, source)).open(), rotating);
    again.finishRotation();
    assert.equal(existsSync(`${path}.next`), false);
    assert.deepEqual(await (await rootKeyProvider(data, source)).open(), next);
    assert.throws(() => again.finishRotation(), { code: "ENOENT" });
    assert.deepEqual(await (await rootKeyProvider(data, source)).open(), next);
  }
});

test("a rotation without a root key, or with a wrong passphrase, makes no next one", async (t) => {
  const data = freshData(t);
  const file = join(data.path, "passphrase");
  await rootKeyProvider(data, passphraseFile(file, "correct horse"));
  await assert.rejects(rootKeyProvider(data, passphraseFile(file, "correct hors"), true), { message: /^wrong/ });
  assert.equal(existsSync(`${data.sealedRootKey}.next`), false);
  const lost = freshData(t);
  await rootKeyProvider(lost, undefined, true);
  rmSync(lost.rootKey);
  mkdirSync(lost.database);
  writeFileSync(join(lost.database, "x"), "");
  await assert.rejects(rootKeyProvider(lost, undefined), {
    message: /^root key missing, .*put back the old key, .* leave \S+root\.key\.next where it is$/,
  });
});

test("once a rotation has replaced the root key, the refusal without it asks for a copy made afterwards", async (t) => {
  const data = freshData(t);
  mkdirSync(data.database);
  writeFileSync(join(data.database, "x"), "");
  const missing = `root key missing, database present: put the root key back into ${data.path}`;
  await assert.rejects(rootKeyProvider(data, undefined), { message: missing });
  writeFileSync(data.rootKeyIds, "{}");
  await assert.rejects(rootKeyProvider(data, undefined), {
    message: `${missing}; a rotation has replaced it: only a copy made after that rotation opens this database`,
  });
});
