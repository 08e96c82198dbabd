/** `keystead keys rotate` as an operator runs it, killed again and again: every key signs in between, and in the end. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { dialects, testSource } from "../../server/test/open_test_store.ts";
import { freshDataFolder } from "./data_folder.ts";
import { type KeysteadServer, repository, startKeystead } from "./keystead_server.ts";

const figures = process.env.KEYSTEAD_FIGURES === "1";
/** Wallets with nine accounts each: ten secrets. */
const wallets = figures ? 200 : 10;
const kills = figures ? 200 : 6;
const options = { skip: process.platform !== "linux" && "needs /proc", timeout: figures ? 3_600_000 : 240_000 };

function clientOf({ url, bootstrap }: KeysteadServer) {
  const { organizationId, apiPublicKey, apiPrivateKey } = bootstrap;
  return createClient({
    baseUrl: url,
    organizationId,
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
}

const accounts = Array.from({ length: 9 }, (_, n) => ({
  curve: "CURVE_SECP256K1" as const,
  pathFormat: "PATH_FORMAT_BIP32" as const,
  path: `m/44'/60'/${n}'/0/0`,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM" as const,
}));

async function createWallets(server: KeysteadServer): Promise<string[]> {
  const client = clientOf(server);
  const addresses: string[] = [];
  for (let n = 0; n < wallets; n++) {
    const made = await client.createWallet({ walletName: `Wallet ${n}`, accounts });
    addresses.push(...made.addresses);
  }
  return addresses;
}

/** The signature that an address gives is the same for ever: the one thing a key must still be able to do. */
async function signatures(server: KeysteadServer, addresses: readonly string[]): Promise<string[]> {
  const client = clientOf(server);
  const made: string[] = [];
  for (const signWith of addresses) {
    const { r, s } = await client.signRawPayload({
      signWith,
      payload: "5a".repeat(32),
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_NO_OP",
    });
    made.push(`${r} ${s}`);
  }
  return made;
}

type Rotation = { process: ChildProcess; said(): string; ended: Promise<unknown[]> };

function rotate(dataFolder: string, env: Record<string, string>): Rotation {
  const child = spawn(process.execPath, [join(repository, "cli/src/main.ts"), "keys", "rotate"], {
    env: { PATH: process.env.PATH ?? "", PORT: "0", KEYSTEAD_DATA: dataFolder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  return { process: child, said: () => said, ended: once(child, "close") };
}

/**
 * The launcher and its children at once, as when the machine goes down. Numbers are used again for other processes; only those
 * of this folder have it on their command line.
 */
function killAll(dataFolder: string, { process: child }: Rotation): void {
  const noted = join(dataFolder, "processes.json");
  const pids = existsSync(noted) ? (JSON.parse(readFileSync(noted, "utf8") || "[]") as number[]) : [];
  if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  for (const pid of pids) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dataFolder)) process.kill(pid, "SIGKILL");
    } catch {
      // Gone by itself.
    }
  }
}

for (const dialect of dialects) {
  test(
    `${dialect}: ${kills} rotations of ${wallets * 10} secrets killed: every key signs on`,
    options,
    async (t: TestContext) => {
      const source = await testSource(t, dialect);
      if (source === undefined) return;
      const env: Record<string, string> = source.kind === "postgres" ? { DATABASE_URL: source.url } : {};
      const dataFolder = freshDataFolder(t);
      const start = async () => {
        const server = await startKeystead({ dataFolder, env });
        t.after(() => server.stop());
        return server;
      };
      const first = await start();
      const addresses = await createWallets(first);
      const expected = await signatures(first, addresses);
      const { organizationId } = first.bootstrap;
      await first.stop();
      const keyAt = (name: string) => readFileSync(join(dataFolder, name)).toString("hex");
      const rootKeys = new Set([keyAt("root.key")]);

      const wholeMs = 4_000;
      let interrupted = 0;
      let finished = 0;
      for (let n = 0; n < kills; n++) {
        const rotation = rotate(dataFolder, env);
        await Promise.race([pause((0.2 + 0.9 * Math.random()) * wholeMs), rotation.ended]);
        if (rotation.process.exitCode === null) {
          killAll(dataFolder, rotation);
          await rotation.ended;
        }
        if (rotation.process.exitCode === 0) {
          finished += 1;
          assert.equal(rootKeys.has(keyAt("root.key")), false, "it is another key each time");
          rootKeys.add(keyAt("root.key"));
        } else {
          assert.equal(rotation.process.exitCode, null, rotation.said());
          interrupted += 1;
        }
        // Whatever it had come to, the server starts and signs.
        if (n % (figures ? 20 : 3) === 0) {
          const server = await start();
          const some = addresses.flatMap((address, at) => ((at + n) % 7 === 0 ? [{ address, at }] : []));
          const made = await signatures(
            server,
            some.map(({ address }) => address),
          );
          assert.deepEqual(
            made,
            some.map(({ at }) => expected[at]),
          );
          await server.stop();
        }
      }
      const last = rotate(dataFolder, env);
      assert.equal((await last.ended)[0], 0, last.said());
      assert.match(last.said(), /sealed anew under the next root key: \d+ secret\(s\)/);
      assert.equal(existsSync(join(dataFolder, "root.key.next")), false);
      const server = await start();
      assert.equal(server.bootstrap.organizationId, organizationId);
      assert.deepEqual(await signatures(server, addresses), expected);
      const later = await clientOf(server).createWallet({ walletName: "After", accounts: [] });
      assert.ok(later.walletId);
      t.diagnostic(
        `${addresses.length + wallets} secrets; ${interrupted} killed, ${finished} came to their end before`,
      );
    },
  );
}
