/** A real Keystead whose processes can be stopped at a step, furnished with stages for acts. Linux only: it looks into /proc. */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { createStages, type Stage } from "@keystead/e2e/matrix/stage.ts";
import { oauth2Settings } from "@keystead/e2e/oauth2_provider.ts";
import { isRunning, killIfThere } from "@keystead/e2e/process_tree.ts";
import { type Step, steps } from "@keystead/server/state/steps.ts";
import type { StoreSource } from "@keystead/server/store/store.ts";
import { furnish } from "../furnish/furnish.ts";
import { freePort } from "./free_port.ts";
import { digits, stopFile } from "./stepped/stop_file.ts";

export type Role = "gateway" | "signer" | "courier";

export type SteppedServer = {
  server: KeysteadServer;
  stages: readonly Stage[];
  /** Every checkpoint that it has signed is appended here. */
  checkpointFile: string;
  /** From now on whichever process comes to this step stops there. */
  arm(step: Step | undefined): void;
  /** The process that has stopped, if one has. */
  findStopped(): number | undefined;
  /** Kills it as it is of this moment, and waits until it runs no more. */
  kill(roles: readonly Role[]): Promise<void>;
};

export async function startStepped(
  t: TestContext,
  source: StoreSource,
  /** Where the gateway finds the database, if that is a server. */
  databaseUrl: string | undefined,
  stageCount: number,
): Promise<SteppedServer> {
  const dataFolder = freshDataFolder(t);
  const direct = { dataFolder, ...(source.kind === "postgres" && { databaseUrl: source.url }) };
  const born = await startKeystead(direct);
  await born.stop();
  const stages: Stage[] = [];
  await furnish(dataFolder, direct.databaseUrl, async (furnisher) => {
    const newStage = createStages(furnisher);
    for (let n = 0; n < stageCount; n++) stages.push(await newStage());
  });
  // Beside a folder that there never is: the file must not lie in any data folder.
  const checkpointFile = `${freshDataFolder(t)}.checkpoints`;
  const path = stopFile(dataFolder);
  writeFileSync(path, "0".repeat(digits), { mode: 0o644 });
  const file = openSync(path, "r+");
  const server = await startKeystead({
    dataFolder,
    ...(databaseUrl !== undefined && { databaseUrl }),
    main: "trials/src/crash/stepped/main.ts",
    port: await freePort(),
    env: {
      KEYSTEAD_RESTART_PAUSE_MS: "0",
      KEYSTEAD_CHECKPOINT_FILE: checkpointFile,
      KEYSTEAD_PROXY_BUDGETS: '{"signUps": 1000000, "codes": 1000000, "signIns": 1000000}',
      ...oauth2Settings,
    },
  });
  t.after(async () => {
    // A stopped process would not hear that it shall end.
    for (const pid of childIds(server)) killIfStopped(pid);
    await server.stop();
    closeSync(file);
  });
  return {
    server,
    stages,
    checkpointFile,
    arm(step) {
      const number = steps.findIndex(({ name }) => name === step) + 1;
      writeSync(file, String(number).padStart(digits, "0"), 0);
    },
    findStopped: () => childIds(server).find((pid) => stateOf(pid) === "T"),
    async kill(roles) {
      const children = await awaitChildren(server, roles);
      for (const pid of children) killIfThere(pid);
      for (const pid of children) while (await isRunning(pid)) await pause(1);
    },
  };
}

/** A role that is between two processes is awaited. A courier comes when it is needed, and need not be there. */
async function awaitChildren(server: KeysteadServer, roles: readonly Role[]): Promise<number[]> {
  const needed = roles.filter((role) => role !== "courier");
  for (;;) {
    const children = await server.children();
    const pids = roles.flatMap((role) => children[role] ?? []);
    if (needed.every((role) => children[role] !== undefined)) return pids;
    await pause(2);
  }
}

function childIds({ launcher: { pid } }: KeysteadServer): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function stateOf(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return status[status.lastIndexOf(")") + 2];
  } catch {
    return undefined;
  }
}

function killIfStopped(pid: number): void {
  if (stateOf(pid) === "T") killIfThere(pid);
}

/** Lets a stopped process go on; one that was killed meanwhile does not. */
export function goOn(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It is gone.
  }
}
