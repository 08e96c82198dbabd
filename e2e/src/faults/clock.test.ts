/**
 * A clock that is set back, or was ahead and is set right. Small steps harm nobody. After larger ones nothing is signed,
 * everybody is told why, and service goes on with the clock's return, or after the one command that the message names.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { freshDataFolder } from "../data_folder.ts";
import { assertNotReplaced } from "../keystead_server.ts";
import { createTestDisk, noTestDisk } from "../test_disk/test_disk.ts";
import {
  type Act,
  act,
  assertAllThere,
  assertNothingElse,
  assertReadable,
  assertUnavailable,
  deploymentAt,
  readiness,
  send,
  tagBody,
  untilAnswered,
  untilSaid,
} from "./deployment.ts";

const minuteMs = 60_000;
const options = { skip: noTestDisk(), timeout: testTimeoutMs };
const behind =
  /^the signer's clock is \d+ s behind the last time it has seen; nothing is signed until it is right, or until the operator runs `npx keystead accept-clock`$/;

test(
  "a clock set back by minutes while serving: nothing is signed, the reason is told, and its return is enough",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    const disk = createTestDisk(t, dataFolder);
    const server = disk.start();
    const deployment = deploymentAt(await server.ready(), dataFolder);
    const before = await server.children();
    const acts: Act[] = [await act(deployment)];

    for (const stepMs of [-4 * minuteMs, -1, 0]) {
      disk.setClock(stepMs);
      acts.push(await act(deployment, tagBody(deployment, Date.now() + stepMs)));
      assert.deepEqual(await readiness(deployment, 200), { status: 200, why: "" });
    }

    for (const stepMs of [-6 * minuteMs, -24 * 60 * minuteMs]) {
      const said = server.output().length;
      disk.setClock(stepMs);
      const body = tagBody(deployment, Date.now() + stepMs);
      await assertUnavailable(deployment, body, behind);
      await assertUnavailable(deployment, body, behind);
      const { status, why } = await readiness(deployment, 503);
      assert.equal(status, 503);
      assert.match(why, behind);
      await untilSaid(
        () => server.output().slice(said),
        /^signer: its clock is \d+ s behind .*`npx keystead accept-clock`$/m,
      );
      assert.equal(
        server
          .output()
          .slice(said)
          .match(/^signer: its clock/gm)?.length,
        1,
        "once is enough",
      );
      await assertReadable(deployment);
      await assertNothingElse(deployment, acts);
      disk.setClock(0);
      acts.push(await untilAnswered(deployment, tagBody(deployment)));
      await untilSaid(() => server.output().slice(said), /^signer: its clock is no longer behind$/m);
      assert.deepEqual(await readiness(deployment, 200), { status: 200, why: "" });
    }
    await assertAllThere(deployment, acts);
    await assertNotReplaced(server, before);
  },
);

test("a clock that was ahead and is right again: a restart changes nothing, accept-clock does", options, async (t) => {
  const dataFolder = freshDataFolder(t);
  const disk = createTestDisk(t, dataFolder);
  const acts: Act[] = [];
  let server = disk.start();
  let deployment = deploymentAt(await server.ready(), dataFolder);
  const restart = async () => {
    await server.stop();
    server = disk.start();
    deployment = deploymentAt(await server.ready(), dataFolder);
  };
  /** A clock that runs ahead cannot be told from one that was late before. */
  const actAhead = async (aheadMs: number) => {
    disk.setClock(aheadMs);
    acts.push(await act(deployment, tagBody(deployment, Date.now() + aheadMs)));
    disk.setClock(0);
    await assertUnavailable(deployment, tagBody(deployment), behind);
  };
  const acceptClock = async () => {
    await server.stop();
    const order = disk.start({ args: ["accept-clock"] });
    assert.equal(await order.exited, 0, order.output());
    assert.match(order.output(), /^the signer's clock is accepted as it is now$/m);
    await restart();
  };

  await actAhead(50 * minuteMs);
  const early = disk.start({ args: ["accept-clock"] });
  assert.equal(await early.exited, 1);
  const isRunning =
    /^keystead: another Keystead is running on \S+: stop the server first, then run this command again$/m;
  assert.match(early.output(), isRunning);

  await restart();
  await assertUnavailable(deployment, tagBody(deployment), behind);
  const { status, why } = await readiness(deployment, 503);
  assert.equal(status, 503);
  assert.match(why, behind);
  await assertReadable(deployment);

  await acceptClock();
  acts.push(await act(deployment));
  assert.deepEqual(await readiness(deployment, 200), { status: 200, why: "" });
  await assertAllThere(deployment, acts);

  // Further ahead than a body lives: its organization cannot tell old bodies from new ones until that time has come.
  await actAhead(150 * minuteMs);
  await acceptClock();
  const refused = await send(deployment, tagBody(deployment));
  assert.equal(refused.status, 400, refused.text);
  assert.match(
    refused.json.message,
    /^request timestamp is outside the allowed window: the signer's clock was ahead when this organization acted, and nothing from before \d{4}-\d\d-\d\dT\d\d:\d\d:00.000Z is accepted any more$/,
  );
  await assertAllThere(deployment, acts);
  disk.setClock(90 * minuteMs);
  acts.push(await act(deployment, tagBody(deployment, Date.now() + 90 * minuteMs)));
  await assertAllThere(deployment, acts);
});
