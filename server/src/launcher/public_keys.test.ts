import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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
  const write = (publicKeys: Record<string, string>) => writePublicKeys(data, publicKeys).replacesOthers;
  const read = () => JSON.parse(readFileSync(data.publicKeys, "utf8"));
  assert.equal(write({ signer: "04ab" }), false);
  assert.deepEqual(read(), { publicKeys: { signer: "04ab" } });
  assert.equal(write({ signer: "04ab" }), false);
  assert.equal(write({ signer: "04cd" }), true);
  assert.deepEqual(read(), { publicKeys: { signer: "04cd" } });
  assert.deepEqual(readdirSync(folder), ["public_keys.json"]);
});

test("of what a signer says its keys are, only names and hex are taken", () => {
  const heard = (publicKeys: unknown) => parseSignerMessage({ kind: "keys", publicKeys });
  const good = { signer: `04${"ab".repeat(64)}`, log: "cd".repeat(32) };
  assert.deepEqual(heard(good), { kind: "keys", publicKeys: good });
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
