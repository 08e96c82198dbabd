/**
 * A disk that is full, or that takes no change at all: under the database, under the signer's memory, under the launcher's
 * files, while serving and at the start. Whoever submits is told to try again, whoever looks is told why, nothing that was
 * acknowledged is lost, and with the cause gone service goes on, by itself or by starting again.
 */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { freshDataFolder } from "../data_folder.ts";
import { assertNotReplaced, startKeystead } from "../keystead_server.ts";
import { killIfThere } from "../process_tree.ts";
import { createTestDisk, noTestDisk, type Part, type TestDisk } from "../test_disk/test_disk.ts";
import {
  type Act,
  act,
  assertAllThere,
  assertNothingElse,
  assertReadable,
  assertUnavailable,
  deploymentAt,
  readiness,
  tagBody,
  untilAnswered,
  untilSaid,
} from "./deployment.ts";

const options = { skip: noTestDisk(), timeout: testTimeoutMs };

type Trouble = { parts: readonly Part[]; begin(disk: TestDisk): void };

/** `bytes` that still fit: a record or a page that is written in part is the harder case. */
const full = (parts: readonly Part[], bytes = 0): Trouble => ({
  parts,
  begin(disk) {
    for (const part of parts) disk.limit(part, bytes);
  },
});

const readOnly = (parts: readonly Part[]): Trouble => ({
  parts,
  begin(disk) {
    for (const part of parts) disk.refuse(part, "EROFS");
  },
});

function end(disk: TestDisk, { parts }: Trouble): void {
  for (const part of parts) {
    disk.limit(part, undefined);
    disk.refuse(part, undefined);
  }
}

const databaseRefuses = /^the database did not commit; try again$/;
const memoryFull = /^the signer's memory cannot be written \(ENOSPC\); nothing is released until it can$/;
const memoryReadOnly = /^the signer's memory cannot be written \(EROFS\); nothing is released until it can$/;

/** What a client hears, what `/readyz` says, and what the terminal says. */
const whileServing: Record<string, Trouble & { told: RegExp; why: RegExp; said?: RegExp }> = {
  "the database's disk is full": {
    ...full(["database"]),
    told: databaseRefuses,
    why: /^the database did not take the last commit \(database or disk is full\)$/,
    said: /"reason":"database or disk is full","msg":"the database did not commit; try again"/,
  },
  "the database's disk fills up in the middle of a page": {
    ...full(["database"], 3_000),
    told: databaseRefuses,
    why: /database or disk is full/,
  },
  "the memory's disk is full": {
    ...full(["signer"]),
    told: memoryFull,
    why: /^the signer did not release the last commit: the signer's memory cannot be written \(ENOSPC\)/,
    said: /^signer: its memory \S+\/signer\/memory cannot be written \(ENOSPC: no space left on device, write\); nothing is released until it can$/m,
  },
  "the memory's disk fills up in the middle of a record": {
    ...full(["signer"], 40),
    told: memoryFull,
    why: /cannot be written \(ENOSPC\)/,
  },
  "one disk for all, and it is full": {
    ...full(["database", "signer", "launcher"]),
    told: databaseRefuses,
    why: /database or disk is full/,
  },
  "the database's file system is read-only": {
    ...readOnly(["database"]),
    told: databaseRefuses,
    why: /^the database did not take the last commit \((disk I\/O error|attempt to write a readonly database)\)$/,
  },
  "the memory's file system is read-only": {
    ...readOnly(["signer"]),
    told: memoryReadOnly,
    why: /cannot be written \(EROFS\)/,
    said: /^signer: its memory \S+\/signer\/memory cannot be written \(EROFS: read-only file system, write\)/m,
  },
  "one file system for all, and it is read-only": {
    ...readOnly(["database", "signer", "launcher"]),
    told: databaseRefuses,
    why: /the database did not take the last commit/,
  },
};

test(
  "a disk that is full or read-only while serving: 503 and the reason, and service goes on by itself",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    const disk = createTestDisk(t, dataFolder);
    const server = disk.start();
    const deployment = deploymentAt(await server.ready(), dataFolder);
    const before = await server.children();
    const acts: Act[] = [];
    for (const [name, trouble] of Object.entries(whileServing)) {
      await t.test(name, async () => {
        acts.push(await act(deployment));
        const said = server.output().length;
        const body = tagBody(deployment);
        trouble.begin(disk);
        try {
          await assertUnavailable(deployment, body, trouble.told);
          const { status, why } = await readiness(deployment, 503);
          assert.equal(status, 503);
          assert.match(why, trouble.why);
          if (trouble.said) await untilSaid(() => server.output().slice(said), trouble.said);
          await assertReadable(deployment);
          await assertNothingElse(deployment, acts);
        } finally {
          end(disk, trouble);
        }
        acts.push(await untilAnswered(deployment, body));
        assert.deepEqual(await readiness(deployment, 200), { status: 200, why: "" });
        await assertAllThere(deployment, acts);
      });
    }
    await assertNotReplaced(server, before);
    await server.stop();
    t.diagnostic(
      `${Object.keys(whileServing).length} disk faults while serving; ${acts.length} acknowledged, none lost`,
    );
    const again = await startKeystead({ dataFolder });
    t.after(() => again.stop());
    await assertAllThere(again, acts);
  },
);

test(
  "a process that dies while the disk is full comes back once there is room, and the launcher lives",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    const disk = createTestDisk(t, dataFolder);
    const server = disk.start({ env: { KEYSTEAD_RESTART_PAUSE_MS: "300" } });
    const deployment = deploymentAt(await server.ready(), dataFolder);
    const acts = [await act(deployment)];
    const trouble = full(["database", "signer", "launcher"]);
    for (const role of ["signer", "gateway"] as const) {
      const said = server.output().length;
      trouble.begin(disk);
      const { [role]: pid } = await server.children();
      assert.ok(pid !== undefined && killIfThere(pid), `there is no ${role}`);
      await untilSaid(() => server.output().slice(said), /could not record the process ids: ENOSPC/);
      end(disk, trouble);
      acts.push(await untilAnswered(deployment, tagBody(deployment)));
      await assertAllThere(deployment, acts);
    }
    assert.equal(server.process.exitCode, null);
  },
);

/** At the start: one line that says what, where and what to do. */
const atStart: Record<string, Trouble & { line: RegExp; servesLater?: true }> = {
  "the launcher's disk is full": {
    ...full(["launcher"]),
    line: /^keystead: the data folder \S+ cannot be written: its disk is full; make room and start again \(|^could not record the process ids: ENOSPC/m,
    servesLater: true,
  },
  "the launcher's file system is read-only": {
    ...readOnly(["launcher"]),
    line: /^keystead: the data folder \S+ cannot be written: its file system is read-only; make it writable and start again \(/m,
  },
  "the database's disk is full": {
    ...full(["database"]),
    line: /^gateway: the database in `\S+\/database` cannot be opened \(.+\): (make room on its disk|see whether its disk is full, read-only or failing, and start again)/m,
  },
  "the database's disk fills up": {
    ...full(["database"], 6_000),
    line: /^gateway: the database in `\S+\/database` cannot be opened \(.+\): (make room on its disk|see whether its disk is full)/m,
  },
  "the database's file system is read-only": {
    ...readOnly(["database"]),
    line: /^gateway: the database in `\S+\/database` cannot be opened \(EROFS: .+\): make its file system writable and start again$|^keystead: user \d+ cannot use \S+\/database \(its file system is read-only\)/m,
  },
  "the memory's file system is read-only": {
    ...readOnly(["signer"]),
    line: /^signer: its memory cannot be opened: EROFS: read-only file system, open '\S+\/signer\/memory'|^keystead: user \d+ cannot use \S+\/signer \(its file system is read-only\)/m,
  },
};

for (const isFirst of [true, false]) {
  const which = isFirst ? "the first start" : "a later start";
  test(
    `a disk that is full or read-only at ${which} is one clear line, and once it is not, the start works`,
    options,
    async (t) => {
      const dataFolder = freshDataFolder(t);
      const acts: Act[] = [];
      // The folder itself is there: that it cannot be made is the system's own message.
      if (isFirst) mkdirSync(dataFolder, { mode: 0o711 });
      else {
        const first = await startKeystead({ dataFolder });
        acts.push(await act(first));
        await first.stop();
      }
      const disk = createTestDisk(t, dataFolder);
      for (const [name, trouble] of Object.entries(atStart)) {
        await t.test(name, async () => {
          trouble.begin(disk);
          const server = disk.start();
          // Once there is data, service does not wait for what only the launcher writes.
          const serves = trouble.servesLater === true && !isFirst;
          if (serves) await server.ready().then(() => server.stop());
          const exitCode = await server.exited;
          end(disk, trouble);
          assert.equal(exitCode, serves ? 0 : 1, server.output());
          assert.match(server.output(), trouble.line);
          assert.doesNotMatch(server.output(), /^\s+at /m, "a stack trace is no message");
        });
      }
      const server = await startKeystead({ dataFolder });
      t.after(() => server.stop());
      await assertAllThere(server, acts);
      await act(server);
    },
  );
}
