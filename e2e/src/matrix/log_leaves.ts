/** list_log_leaves, get_log_file, get_log_statement: an organization's own part of the log, and how much of it there is. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { parseLogStatement } from "@keystead/core/log/statement.ts";
import { parseNote } from "@keystead/core/tlog/note.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { type BadInput, queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";
import { badPages, foreignCursors } from "./lists.ts";
import { newTag } from "./people.ts";
import type { Place } from "./stage.ts";

/** A leaf is listed once a checkpoint covers it, which comes within a second or two. */
async function leavesOf(fixture: Fixture, place: Place, fewest: number): Promise<Json[]> {
  for (const deadline = Date.now() + patienceMs; ; await pause(100)) {
    const request = { paginationOptions: { limit: "100" } };
    const { leaves } = await fixture.ask("list_log_leaves", request, place.root, place);
    const own = leaves.filter(({ ordinal }: Json) => ordinal !== undefined);
    if (own.length >= fewest) return leaves;
    assert.ok(Date.now() < deadline, `${own.length} leaves are listed, not ${fewest}`);
  }
}

const someLog = "0".repeat(32);

const badLogs: BadInput<Json>[] = [
  {
    name: "a log that is none",
    bend: () => ({ logId: "nothing" }),
    refusal: invalid("invalid request body: field `logId` has characters that are not allowed"),
  },
];

const hexOf = (base64: string) => Buffer.from(base64, "base64").toString("hex");

export const listLogLeaves = queryEntry<Json>({
  async good(fixture, place) {
    await fixture.done("create_user_tag", { userTagName: randomUUID(), userIds: [] }, place.root, place);
    // Those that are there stay as they are, whatever comes behind them.
    await leavesOf(fixture, place, 2);
    return { paginationOptions: { limit: "2" } };
  },
  required: [],
  answer: (_, { leaves, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.equal(leaves.length, 2);
    for (const { logId, position, leaf, bodies } of leaves) {
      assert.match(logId, /^[0-9a-f]{32}$/);
      assert.ok(Number.isSafeInteger(position) && Array.isArray(bodies));
      assert.notEqual(leaf, "");
    }
  },
  bad: [
    ...badPages,
    ...foreignCursors(async (place, fixture) => {
      const [{ logId, position }] = (await leavesOf(fixture, place, 1)).filter(
        ({ ordinal }) => ordinal !== undefined,
      ) as [Json];
      return `${logId}:${position}`;
    }),
    ...badLogs,
    {
      name: "a log that is not there",
      bend: () => ({ logId: someLog }),
      refusal: notFound(`unable to find log ${someLog}`),
    },
  ],
  foreign: [],
  also: {
    "ordinals run from 1, and each leaf is of this organization or of the operator": async (fixture) => {
      await newTag(fixture);
      const { place } = fixture;
      const leaves = await leavesOf(fixture, place, 3);
      const own = leaves.filter(({ ordinal }) => ordinal !== undefined);
      assert.deepEqual(
        own.map(({ ordinal }) => ordinal),
        own.map((_, index) => index + 1),
      );
      for (const { leaf } of own) {
        if (leaf === "") continue;
        const { organizationId } = decodeLeaf(new Uint8Array(Buffer.from(leaf, "base64")));
        assert.equal(Buffer.from(organizationId).toString("hex"), place.organizationId.replaceAll("-", ""));
      }
      for (const { leaf } of leaves.filter(({ ordinal }) => ordinal === undefined)) {
        const { event } = decodeLeaf(new Uint8Array(Buffer.from(leaf, "base64")));
        assert.ok(["BOOTED", "LOG_OPENED", "DATABASE_ACCEPTED"].includes(event), hexOf(leaf));
      }
    },
  },
});

export const getLogFile = queryEntry<Json>({
  async good(fixture, place) {
    const [{ logId }] = (await leavesOf(fixture, place, 1)) as [Json];
    return { logId, path: "tile/entries/000.p/1" };
  },
  required: ["logId", "path"],
  answer: (_, { content, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.match(hexOf(content), /^0020[0-9a-f]{64}$/);
  },
  bad: [
    ...badLogs,
    {
      name: "a log that is not there",
      bend: () => ({ logId: someLog }),
      refusal: notFound(`unable to find tile/entries/000.p/1 of log ${someLog}`),
    },
  ],
  foreign: [],
  also: {
    "a path that no file has is not found, whatever it looks like": async (fixture) => {
      const { organizationId, root } = fixture.place;
      const [{ logId }] = (await leavesOf(fixture, fixture.place, 1)) as [Json];
      for (const path of ["../checkpoint", "tile/0/000.p/0", "tile/entries/x999/999", "checkpoint/"]) {
        const body = { organizationId, logId, path };
        const answer = await fixture.send({ kind: "query", path: "get_log_file", body, key: root.p256 });
        assertRefused(answer, notFound(`unable to find ${path} of log ${logId}`));
      }
    },
    "everybody is shown the same as the public": async (fixture) => {
      const [{ logId }] = (await leavesOf(fixture, fixture.place, 1)) as [Json];
      const { content } = await fixture.ask("get_log_file", { logId, path: "tile/0/000.p/1" });
      const response = await fetch(`${fixture.url}/log/${logId}/tile/0/000.p/1`);
      assert.equal(hexOf(content), Buffer.from(await response.arrayBuffer()).toString("hex"));
    },
  },
});

export const getLogStatement = queryEntry<Json>({
  good: () => ({}),
  required: [],
  answer: ({ organizationId }, { statement, logs, ...nothing }) => {
    assert.deepEqual(nothing, {});
    const said = parseLogStatement(parseNote(statement).text);
    assert.equal(said.logs, createHash("sha256").update(logs).digest("hex"));
    assert.equal(said.organizationId, organizationId);
    assert.ok(said.count > 0 && said.size >= said.count);
  },
  bad: [
    ...badLogs,
    {
      name: "a log that is not there",
      bend: () => ({ logId: someLog }),
      refusal: notFound(`unable to find log ${someLog}`),
    },
  ],
  foreign: [],
  isOfTheMoment: true,
});
