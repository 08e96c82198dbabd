/**
 * Second starts, besides those of restart.test.ts and listen.test.ts: two data folders that share one database file (mounted,
 * or linked, in both). The second is refused, the first does not notice, and when it has ended the other may.
 */
import assert from "node:assert/strict";
import { chownSync, cpSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { freshDataFolder } from "../data_folder.ts";
import { startKeystead } from "../keystead_server.ts";
import { act, assertAllThere } from "./deployment.ts";

test("two data folders over one database file: the second start is refused, and the first goes on", {
  timeout: testTimeoutMs,
}, async (t) => {
  const dataFolder = freshDataFolder(t);
  const first = await startKeystead({ dataFolder });
  const acts = [await act(first)];
  await first.stop();
  const twin = freshDataFolder(t);
  cpSync(dataFolder, twin, { recursive: true });
  shareDatabase(dataFolder, twin);

  const running = await startKeystead({ dataFolder });
  t.after(() => running.stop());
  await assert.rejects(startKeystead({ dataFolder: twin }), (error: unknown) => {
    assert.match(
      String(error),
      /^gateway: another gateway uses `\S+\/database`: stop it, or set DATABASE_URL to share$/m,
    );
    return true;
  });
  acts.push(await act(running));
  await assertAllThere(running, acts);
  await running.stop();

  const other = await startKeystead({ dataFolder: twin });
  t.after(() => other.stop());
  await assertAllThere(other, acts);
});

/** One file under two names is what a mount would make of it, without the rights that mounting takes. */
function shareDatabase(from: string, to: string): void {
  for (const part of ["database", "signer"]) {
    const { uid, gid } = statSync(join(from, part));
    if (part === "database") {
      rmSync(join(to, part), { recursive: true });
      mkdirSync(join(to, part), { mode: 0o700 });
      for (const name of readdirSync(join(from, part))) linkSync(join(from, part, name), join(to, part, name));
    }
    chownSync(join(to, part), uid, gid);
    for (const name of readdirSync(join(to, part))) chownSync(join(to, part, name), uid, gid);
  }
}
