/** The other end of an attacker's process. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Tally, Target } from "./attack.ts";
import type { AttackName } from "./attacks.ts";

export type ToAttacker =
  | { kind: "start"; name: AttackName; target: Target }
  | { kind: "look" }
  | { kind: "countAnew" }
  | { kind: "stop" };
export type FromAttacker = { kind: "begun" } | { kind: "going" | "ended"; tally: Tally; cpuMs: number };

export type Attacker = {
  /** How it goes so far. */
  look(): Promise<Tally>;
  /** From now on, the most that were open counts from those that are. */
  countAnew(): Promise<void>;
  /** Ends the attack; how it went, and the CPU time it took the attacker itself. */
  stop(): Promise<{ tally: Tally; cpuMs: number }>;
  /** Ends its process, however far it came. */
  kill(): void;
};

/** Resolves when the attack has begun. */
export async function startAttacker(name: AttackName, target: Target): Promise<Attacker> {
  const child = fork(fileURLToPath(new URL("./attack_entry.ts", import.meta.url)));
  // Whoever waits for one that failed would wait for ever.
  const gone = once(child, "exit").then(([code]): never => {
    throw new Error(`the attacker ${name} ended with ${code}`);
  });
  gone.catch(() => undefined);
  const ask = async (message: ToAttacker) => {
    const answered = once(child, "message") as Promise<[FromAttacker]>;
    child.send(message);
    return (await Promise.race([answered, gone]))[0];
  };
  const told = async (message: ToAttacker) => {
    const answer = await ask(message);
    if (answer.kind === "begun") throw new Error("the attacker began twice");
    return answer;
  };
  await ask({ kind: "start", name, target });
  return {
    look: async () => (await told({ kind: "look" })).tally,
    async countAnew() {
      await told({ kind: "countAnew" });
    },
    async stop() {
      const { tally, cpuMs } = await told({ kind: "stop" });
      child.disconnect();
      return { tally, cpuMs };
    },
    kill() {
      child.kill("SIGKILL");
    },
  };
}
