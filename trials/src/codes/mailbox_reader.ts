/** Codes out of the mailbox folders of a deployment. Each message is read once, for whole folders hold thousands. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import type { MailboxFile } from "@keystead/e2e/mailbox.ts";
import { patienceMs } from "../../../core/test/patience.ts";

const lookEveryMs = 20;

export class MailboxReader {
  readonly #folders: readonly string[];
  /** Names of files. A message that two hosts have sent has one name. */
  readonly #read = new Set<string>();
  readonly #codes = new Map<string, string>();
  #lookedAtMs = 0;

  constructor(servers: readonly Pick<KeysteadServer, "dataFolder">[]) {
    this.#folders = servers.map(({ dataFolder }) => join(dataFolder, "outbox"));
  }

  /** How many messages have come. */
  get size(): number {
    return this.#read.size;
  }

  /** The code in the message to a contact that gets no other; it is waited for. */
  async code(contact: string): Promise<string> {
    for (const deadline = Date.now() + patienceMs; ; await pause(lookEveryMs)) {
      if (Date.now() - this.#lookedAtMs >= lookEveryMs) this.#look();
      const code = this.#codes.get(contact);
      if (code !== undefined) return code;
      assert.ok(Date.now() < deadline, `no message to ${contact}`);
    }
  }

  #look(): void {
    for (const folder of this.#folders) {
      for (const name of readdirSync(folder)) {
        if (!name.endsWith(".json") || this.#read.has(name)) continue;
        this.#read.add(name);
        const { to, code } = JSON.parse(readFileSync(join(folder, name), "utf8")) as MailboxFile;
        this.#codes.set(to, code);
      }
    }
    this.#lookedAtMs = Date.now();
  }
}
