/**
 * What the servers of this process have sent: without settings of mail every message is a file in their outbox folders. The folders are
 * named in the environment, so that processes which a suite starts beside its server find them, too.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { patienceMs } from "../../core/test/patience.ts";

const setting = "KEYSTEAD_TEST_MAILBOXES";

const folders = () => (process.env[setting] ?? "").split(delimiter).filter((folder) => folder !== "");

export function addMailbox(dataFolder: string): void {
  const folder = join(dataFolder, "outbox");
  if (!folders().includes(folder)) process.env[setting] = [...folders(), folder].join(delimiter);
}

export type MailboxFile = {
  channel: string;
  to: string;
  subject: string;
  text: string;
  code: string;
  createdAt: string;
};

/** All messages to a contact, the oldest first. */
export function messagesTo(contact: string, within = folders()): MailboxFile[] {
  return within
    .flatMap((folder) => filesIn(folder).map((name) => join(folder, name)))
    .flatMap((path) => {
      const message = readMessage(path);
      return message?.to === contact ? [message] : [];
    });
}

/** The first message to a contact that nobody else is sent anything at, or the one after `seen` others; it is waited for. */
export async function messageTo(contact: string, within = folders(), seen = 0): Promise<MailboxFile> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    const message = messagesTo(contact, within)[seen];
    if (message !== undefined) return message;
    assert.ok(Date.now() < deadline, `no message to ${contact}`);
    await pause(50);
  }
}

/** None when its server is gone. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .sort();
  } catch {
    return [];
  }
}

function readMessage(path: string): MailboxFile | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as MailboxFile;
  } catch {
    return undefined;
  }
}
