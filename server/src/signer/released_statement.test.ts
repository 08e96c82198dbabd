/** The signer's word on what it has released, in pages, whatever gaps there are between the numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { openStatement } from "@keystead/core/log/released.ts";
import { createSignerRig } from "../../test/signer_rig.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { protocolVersion } from "../frames/frame.ts";

test("however many numbers were given and never released, the pages of the statement name each released one, and no other", () => {
  const rig = createSignerRig();
  const { publicKeys } = rig.operations.hello({ protocol: protocolVersion, keyring: rig.keyring });
  const boot = new Uint8Array(16).fill(9);
  const count = 120_000;
  const leaves = Array.from({ length: count }, (_, index) => ({ boot, first: 2 * index + 1, last: 2 * index + 1 }));
  rig.memory.rememberRelease(rig.clock.nowMs, [], leaves);
  const { operations } = rig.restart();
  const pages: ReturnType<typeof openStatement>[] = [];
  do {
    const { statement, signature } = operations.statement({ page: pages.length });
    pages.push(openStatement(nodeCurves, fromHex(JSON.parse(publicKeys).log), statement, signature));
  } while (pages.length < (pages[0]?.pages ?? 0));
  assert.equal(pages.length, 3);
  const named = pages.flatMap(({ ranges }) => ranges).filter((range) => toHex(range.boot) === toHex(boot));
  assert.deepEqual(
    named.map(({ first, last }) => [first, last]),
    leaves.map(({ first, last }) => [first, last]),
  );
});
