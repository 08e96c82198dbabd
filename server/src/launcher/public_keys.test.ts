import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dataFolderAt } from "./data_folder.ts";
import { parseSignerMessage } from "./process_messages.ts";
import { writePublicKeys } from "./public_keys.ts";

test("the public keys lie in a file of their own, and other ones in their place are noticed", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-keys-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const data = dataFolderAt(folder);
  const write = (publicKeys: Record<string, string>) => writePublicKeys(data, publicKeys, "pem").replacesOthers;
  const read = () => JSON.parse(readFileSync(data.publicKeys, "utf8"));
  assert.equal(write({ signer: "04ab" }), false);
  assert.deepEqual(read(), { publicKeys: { signer: "04ab" }, attestationRoot: "pem" });
  assert.equal(write({ signer: "04ab" }), false);
  assert.equal(write({ signer: "04cd" }), true);
  assert.deepEqual(read(), { publicKeys: { signer: "04cd" }, attestationRoot: "pem" });
  assert.deepEqual(readdirSync(folder), ["public_keys.json"]);
});

test("a file of a release that knew no attestation root gets one, and that is no other deployment's", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-keys-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const data = dataFolderAt(folder);
  writeFileSync(data.publicKeys, `${JSON.stringify({ publicKeys: { signer: "04ab" } }, null, 2)}\n`);
  assert.equal(writePublicKeys(data, { signer: "04ab" }, "pem").replacesOthers, false);
  assert.equal(JSON.parse(readFileSync(data.publicKeys, "utf8")).attestationRoot, "pem");
});

test("of what a signer says its keys are, only names and hex are taken", () => {
  const attestationRoot = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  const heard = (publicKeys: unknown) => parseSignerMessage({ kind: "keys", publicKeys, attestationRoot });
  const good = { signer: `04${"ab".repeat(64)}`, log: "cd".repeat(32) };
  assert.deepEqual(heard(good), { kind: "keys", publicKeys: good, attestationRoot });
  for (const root of [
    undefined,
    "",
    "text",
    attestationRoot + attestationRoot,
    attestationRoot.replace("M", "\u001b"),
  ]) {
    assert.equal(parseSignerMessage({ kind: "keys", publicKeys: good, attestationRoot: root }), undefined);
  }
  for (const bad of [
    { signer: "no hex" },
    { signer: 4 },
    { "a/b": good.log },
    { log: `${good.log}\u001b[2J` },
    "text",
    [good.log],
  ])
    assert.equal(heard(bad), undefined, JSON.stringify(bad));
});
