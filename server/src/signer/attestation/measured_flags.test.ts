import assert from "node:assert/strict";
import { test } from "node:test";
import { measuredFlags } from "./measured_flags.ts";

test("the manifest names every flag but folders and our own import: code that is loaded before it cannot hide", () => {
  const own = "file:///srv/keystead/server/src/signer/attestation/load_record.ts";
  const flags = [
    ...["--permission", "--allow-fs-read=/srv/keystead", "--allow-fs-write=/data/signer", "--disable-sigusr1"],
    ...["--import=file:///tmp/other.mjs", `--import=${own}`, "--require=/tmp/other.cjs"],
  ];
  assert.deepEqual(measuredFlags(flags, own), [
    ...["--permission", "--disable-sigusr1", "--import=file:///tmp/other.mjs", "--require=/tmp/other.cjs"],
  ]);
});
