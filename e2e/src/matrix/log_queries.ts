/** get_log_statement, list_log_leaves: an organization's own part of the log, and the signer's word that it is all of it. */
import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { parseLogStatement } from "@keystead/core/log/statement.ts";
import { openNote } from "@keystead/core/tlog/note.ts";
import { parseVkey } from "@keystead/core/tlog/vkey.ts";
import { invalid, notFound } from "../refusals.ts";
import { queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";

const noSuchLog = "0".repeat(32);
const operatorsEvents: readonly string[] = ["LOG_OPENED", "BOOTED", "DATABASE_ACCEPTED"];

function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") };
  return verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature);
}

async function published({ url }: Fixture): Promise<{ logId: string; vkey: string }[]> {
  return ((await (await fetch(`${url}/.well-known/keystead.json`)).json()) as { logs: [] }).logs;
}

async function statementIn({ statement, logs, ...nothing }: Json, fixture: Fixture) {
  assert.deepEqual(nothing, {});
  const keys = (await published(fixture)).map(({ vkey }) => parseVkey(vkey));
  const said = parseLogStatement(openNote({ verifyEd25519 }, keys, statement).text);
  assert.equal(said.logs, createHash("sha256").update(logs).digest("hex"));
  return said;
}

/** Of the whole list, in pages. */
async function allLeaves(fixture: Fixture): Promise<Json[]> {
  const leaves: Json[] = [];
  for (let after: string | undefined; ; ) {
    const paginationOptions = { limit: "100", ...(after !== undefined && { after }) };
    const page = (await fixture.ask("list_log_leaves", { paginationOptions })).leaves as Json[];
    const last = page.at(-1);
    if (last === undefined) return leaves;
    leaves.push(...page);
    after = `${last.logId}:${last.position}`;
  }
}

export const getLogStatement = queryEntry<{ logId?: string }>({
  good: () => ({}),
  required: [],
  answer: async (_, answer, fixture) => {
    const { organizationId, count, size } = await statementIn(answer, fixture);
    assert.equal(organizationId, fixture.place.organizationId);
    assert.ok(count > 0 && count <= size);
  },
  bad: [
    {
      name: "a log that is not this host's",
      bend: () => ({ logId: noSuchLog }),
      refusal: notFound(`log ${noSuchLog} is not this host's: only the host that keeps it can speak for it`),
    },
    {
      name: "a log's id of another form",
      bend: () => ({ logId: "log" }),
      refusal: invalid('invalid request body: field `logId` must match pattern "^[0-9a-f]{32}$"'),
    },
  ],
  foreign: [],
  also: {
    "it counts exactly the leaves that are listed with an ordinal": async (fixture) => {
      const before = await statementIn(await fixture.ask("get_log_statement"), fixture);
      const ordinals = (await allLeaves(fixture))
        .filter(({ logId }) => logId === before.logId)
        .flatMap(({ ordinal }) => ordinal ?? []);
      const after = await statementIn(await fixture.ask("get_log_statement"), fixture);
      assert.deepEqual(
        ordinals,
        ordinals.map((_, index) => index + 1),
      );
      assert.ok(before.count <= ordinals.length && ordinals.length <= after.count);
    },
  },
});

export const listLogLeaves = queryEntry<{ logId?: string; paginationOptions?: object }>({
  good: () => ({ paginationOptions: { limit: "100" } }),
  required: [],
  answer(_, { leaves, ...nothing }, { place }) {
    assert.deepEqual(nothing, {});
    assert.ok(leaves.length > 0);
    for (const { ordinal, leaf } of leaves) {
      // A leaf whose bearer could use it is listed without its bytes.
      if (leaf === "") continue;
      const { organizationId, event } = decodeLeaf(Uint8Array.from(Buffer.from(leaf, "base64")));
      if (operatorsEvents.includes(event)) assert.equal(ordinal ?? undefined, undefined);
      else assert.equal(uuidFromBytes(organizationId), place.organizationId);
    }
  },
  bad: [
    {
      name: "a log that there is not",
      bend: () => ({ logId: noSuchLog }),
      refusal: notFound(`unable to find log ${noSuchLog}`),
    },
    {
      name: "an unknown cursor",
      bend: () => ({ paginationOptions: { after: `${noSuchLog}:1` } }),
      refusal: invalid(`invalid pagination cursor: there is no \`${noSuchLog}:1\` in this list`),
    },
  ],
  foreign: [],
});
