/** `keystead witness` as a process of its own, as a user runs it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type WitnessProcess = {
  name: string;
  vkey: string;
  url: string;
  port: number;
  /** What it printed. */
  lines: readonly string[];
  post(body: string): Promise<{ status: number; type: string | null; body: string }>;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

const root = join(import.meta.dirname, "../..");
const programs = {
  command: [join(root, "cli/src/main.ts"), "witness"],
  direct: [join(root, "server/src/witness/main.ts")],
};

type Start = { data: string; logs: readonly string[]; port?: number };

/** Through the command line. */
export function startWitness({ data, logs, port = 0 }: Start): Promise<WitnessProcess> {
  const flags = logs.flatMap((vkey) => ["--log", vkey]);
  return started([...programs.command, ...flags, "--port", String(port), "--data", data]);
}

/** As the guide says: npx starts a shell, and that the command line. Signals go to npx alone. */
export function startWitnessWithNpx({ data, logs, port = 0 }: Start): Promise<WitnessProcess> {
  const flags = logs.flatMap((vkey) => ["--log", vkey]);
  return started(["keystead", "witness", ...flags, "--port", String(port), "--data", data], "npx");
}

/** Without the process of the command line before it, so that a kill hits the witness itself. */
export function startWitnessAlone({ data, logs, port = 0 }: Start): Promise<WitnessProcess> {
  return started([...programs.direct, data, "127.0.0.1", String(port), ...logs]);
}

async function started(args: readonly string[], program = process.execPath): Promise<WitnessProcess> {
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line.startsWith("KEYSTEAD_WITNESSES=")) break;
  }
  const [, json = "[]"] = /^KEYSTEAD_WITNESSES='(.*)'$/.exec(lines.at(-1) ?? "") ?? [];
  const [witness] = JSON.parse(json) as { name: string; vkey: string; url: string }[];
  if (witness === undefined) throw new Error(`the witness did not start: ${lines.join("; ")}`);
  return {
    ...witness,
    port: Number(new URL(witness.url).port),
    lines,
    async post(body) {
      const response = await fetch(`${witness.url}/add-checkpoint`, { method: "POST", body });
      return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
    },
    stop: (signal = "SIGTERM") => stopped(child, signal),
  };
}

function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}
