import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "@keystead/core/work.ts";
import { emptyPages } from "../../state/pages.ts";
import { createVerdicts } from "../secrets/verdicts.ts";
import type { Act } from "./act.ts";
import { NeedsMore } from "./needs_more.ts";
import { complete } from "./outcome.ts";

/** An act whose activity makes two keys, one of them in an organization that is born by it. */
function actWith(pinOf: () => unknown): { act: Act; secrets: Uint8Array[] } {
  const secrets = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const [own, born] = secrets.map((secret) => [{ record: { kind: "privateKey" }, secret }]);
  const organizationId = "11111111-1111-4111-8111-111111111111";
  const births = [{ organizationId, organizationName: "Child", changes: [], records: born }];
  const activity = { state: () => undefined, run: () => ({ changes: [], records: own, births, result: {} }) };
  const act = {
    signer: { memory: { pins: { get: pinOf } }, keyring: {} },
    state: { pages: emptyPages, directory: { pages: [] }, known: { header: {} } },
    asked: { form: { activity } },
    keys: () => undefined,
    supplied: { records: [] },
    verdicts: createVerdicts(),
  };
  return { act: act as unknown as Act, secrets };
}

test("an outcome that is not used after all has its secrets wiped, in births too", () => {
  const known = actWith(() => ({ version: 1 }));
  assert.throws(() => finish(complete(known.act, "ROOT_QUORUM")), { code: "already_exists" });
  const short = actWith(() => {
    throw new NeedsMore([]);
  });
  assert.throws(() => finish(complete(short.act, "ROOT_QUORUM")), NeedsMore);
  for (const secret of [...known.secrets, ...short.secrets]) assert.deepEqual(secret, new Uint8Array(32));
});
