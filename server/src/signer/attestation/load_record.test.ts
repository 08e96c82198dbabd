import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { keysteadCode } from "../../launcher/code.ts";
import { nodeArguments } from "../../launcher/permissions.ts";
import { processes } from "../../launcher/processes.ts";

const entry = fileURLToPath(new URL("load_record.test_entry.ts", import.meta.url));

function run(preload: string | undefined): { files: { path: string; digest: string }[]; later: string } {
  const { root: _, signer } = keysteadCode();
  const memory = mkdtempSync(join(tmpdir(), "keystead-loaded-"));
  try {
    const { preload: __, ...program } = { ...signer, entry };
    const flags = nodeArguments(processes.signer, preload === undefined ? program : { ...program, preload }, memory);
    const { stdout, stderr, status } = spawnSync(process.execPath, flags, { cwd: memory, env: {}, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(memory, { recursive: true });
  }
}

test("under the signer's flags each file that is loaded is noted with the digest of its bytes, and none after lockDown", () => {
  const { root, signer } = keysteadCode();
  const { files, later } = run(signer.preload);
  assert.equal(later, "ERR_ACCESS_DENIED");
  for (const { path, digest } of files) {
    assert.equal(
      digest,
      createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest("hex"),
      path,
    );
  }
  const paths = new Set(files.map(({ path }) => path));
  assert.equal(paths.size, files.length);
  for (const path of [
    "server/src/signer/attestation/load_record.ts",
    "server/src/signer/attestation/load_record.test_entry.ts",
    "server/src/lockdown/lockdown.ts",
    "server/src/signer/operations.ts",
    "core/src/fault.ts",
    "node_modules/tiny-secp256k1/lib/index.js",
    "node_modules/tiny-secp256k1/lib/secp256k1.wasm",
  ]) {
    assert.ok(paths.has(path), path);
  }
  assert.ok(!paths.has("server/src/signer/serve.ts"), "it was refused");
  assert.ok(files.length > 400, String(files.length));
});

test("the WASM file is the only one that the signer's packages read by themselves", () => {
  const { files } = run(keysteadCode().signer.preload);
  const { root } = keysteadCode();
  const readers = files.filter(({ path }) => {
    const isText = path.startsWith("node_modules/") && /\.(js|mjs|cjs)$/.test(path);
    return isText && /\breadFile(Sync)?\(|\bcreateReadStream\(/.test(readFileSync(join(root, path), "utf8"));
  });
  assert.deepEqual(
    readers.map(({ path }) => path),
    ["node_modules/tiny-secp256k1/lib/wasm_loader.js"],
  );
});

test("loaded by the program itself it comes too late for what that imports: hence Node loads it first", () => {
  const paths = run(undefined).files.map(({ path }) => path);
  assert.deepEqual(paths, ["server/src/signer/attestation/load_record.ts"]);
});
