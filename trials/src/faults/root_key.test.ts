/**
 * Wrong root keys, besides those of restart.test.ts: a wrong passphrase, and the root key of another installation beside a
 * database server. The message says what is wrong and what to do, nothing is written, and with the right key all is there.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { openSession, testSource } from "@keystead/e2e/databases.ts";
import { act, assertAllThere } from "@keystead/e2e/faults/deployment.ts";
import { startKeystead } from "@keystead/e2e/keystead_server.ts";
import { tables } from "@keystead/server/store/tables.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";

const options = { timeout: testTimeoutMs };

function withMessage(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.match(String(error), pattern);
    assert.doesNotMatch(String(error), /keystead ended[\s\S]*^\s+at /m, "a stack trace is no message");
    return true;
  };
}

/** Every file with its content; the lock and the numbers of processes come and go with each start. */
function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile() && !/^(lock|processes\.json)$|gateway\.lock/.test(path))
    .map((path) => [
      path,
      createHash("sha256")
        .update(readFileSync(join(folder, path)))
        .digest("hex"),
    ]);
  return Object.fromEntries(files);
}

test(
  "a wrong passphrase: refused, nothing is touched, and with the right one everything is there",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    const passphrase = `${dataFolder}.passphrase`;
    const write = (text: string) => writeFileSync(passphrase, text, { mode: 0o600 });
    const env = { KEYSTEAD_PASSPHRASE_FILE: passphrase };
    write("the right words, and enough of them\n");
    const first = await startKeystead({ dataFolder, env });
    const acts = [await act(first)];
    await first.stop();
    const before = contentOf(dataFolder);

    write("other words, and enough of them too\n");
    await assert.rejects(
      startKeystead({ dataFolder, env }),
      withMessage(/^keystead: wrong passphrase for the root key/m),
    );
    await assert.rejects(
      startKeystead({ dataFolder }),
      withMessage(
        /^keystead: \S+root\.key\.sealed needs its passphrase: set KEYSTEAD_PASSPHRASE_FILE or KEYSTEAD_PASSPHRASE=ask$/m,
      ),
    );
    assert.deepEqual(contentOf(dataFolder), before);

    write("the right words, and enough of them\n");
    const second = await startKeystead({ dataFolder, env });
    t.after(() => second.stop());
    await assertAllThere(second, acts);
    await act(second);
  },
);

test(
  "another installation's root key beside a database server: refused, nothing is written to the database",
  options,
  async (t) => {
    const source = await testSource(t, "postgres");
    if (source?.kind !== "postgres") return;
    const { url: databaseUrl } = source;
    const dataFolder = freshDataFolder(t);
    const first = await startKeystead({ dataFolder, databaseUrl });
    const acts = [await act(first)];
    await first.stop();
    const before = await rowsOf(databaseUrl);

    // A host that lost its folder, or was given the wrong address: it makes a root key of its own.
    const stranger = freshDataFolder(t);
    const refused = withMessage(
      /^gateway: the root key does not belong to this database: put the right one back, or set DATABASE_URL to the right database/m,
    );
    await assert.rejects(startKeystead({ dataFolder: stranger, databaseUrl }), refused);
    // The same in the folder of this database: its memory tells first.
    const right = ["root.key", "bootstrap.json"].map(
      (name) => [join(dataFolder, name), readFileSync(join(dataFolder, name))] as const,
    );
    for (const [path] of right) writeFileSync(path, readFileSync(path.replace(dataFolder, stranger)));
    await assert.rejects(
      startKeystead({ dataFolder, databaseUrl }),
      withMessage(/^signer: the root key does not belong to this database, .* put the right root key back/m),
    );
    for (const [path, content] of right) writeFileSync(path, content);
    assert.deepEqual(await rowsOf(databaseUrl), before);

    const second = await startKeystead({ dataFolder, databaseUrl });
    t.after(() => second.stop());
    await assertAllThere(second, acts);
    await act(second);
  },
);

/** All rows, as text. */
async function rowsOf(url: string): Promise<Record<string, string[]>> {
  const session = await openSession(url);
  try {
    const found: Record<string, string[]> = {};
    for (const table of Object.keys(tables)) {
      const { rows } = await session.query<{ row: string }>(`select ${table}::text as row from ${table} order by 1`);
      found[table] = rows.map(({ row }) => row);
    }
    return found;
  } finally {
    await session.end();
  }
}
