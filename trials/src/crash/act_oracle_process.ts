/** The test's end of the line to the oracle of acts. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { ActReport, FromActOracle, ToActOracle } from "./act_ledger.ts";

export class ActOracle {
  readonly #process: ChildProcess;
  readonly #ears = new Set<(message: FromActOracle | undefined) => void>();
  /** Something that must not be. From then on it knows nothing more. */
  violation: string | undefined;
  acknowledged = 0;
  /** Answers with status 503. */
  unavailable = 0;

  constructor(t: TestContext) {
    this.#process = fork(join(import.meta.dirname, "act_oracle.ts"), [], {
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    t.after(() => this.#process.kill("SIGKILL"));
    this.#process.on("message", (message: FromActOracle) => {
      if (message.kind === "violation") this.violation ??= message.what;
      if (message.kind === "progress") {
        this.acknowledged = message.acknowledged;
        this.unavailable = message.unavailable;
      }
      for (const ear of this.#ears) ear(message);
    });
    this.#process.on("exit", (code) => {
      this.violation ??= `the oracle ended with ${code}`;
      for (const ear of this.#ears) ear(undefined);
    });
  }

  tell(message: ToActOracle): void {
    this.#process.send(message);
  }

  /** Waits for a message of a kind; a violation instead is an error. */
  hear<K extends FromActOracle["kind"]>(kind: K): Promise<Extract<FromActOracle, { kind: K }>> {
    return new Promise((resolve, reject) => {
      const ear = (message: FromActOracle | undefined) => {
        if (this.violation !== undefined) reject(new Error(this.violation));
        else if (message?.kind === kind) resolve(message as Extract<FromActOracle, { kind: K }>);
        else return;
        this.#ears.delete(ear);
      };
      this.#ears.add(ear);
      if (this.violation !== undefined) ear(undefined);
    });
  }

  async ask<K extends FromActOracle["kind"]>(message: ToActOracle, kind: K) {
    const heard = this.hear(kind);
    this.tell(message);
    return heard;
  }

  async finish(): Promise<ActReport> {
    return (await this.ask({ kind: "finish" }, "report")).report;
  }
}
