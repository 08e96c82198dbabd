/** The courier and the gateway killed at each step of a delivery: every committed message arrives, and no other. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { dialects, testSource } from "@keystead/e2e/databases.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { killIfThere } from "@keystead/e2e/process_tree.ts";
import type { Store } from "@keystead/server/store/store.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { headerOf, startSmtp } from "../../../server/test/smtp.ts";
import { openStoredMessages } from "./stored_messages.ts";

const steps = ["connected", "sender given", "recipient given", "text given", "taken"] as const;
type Step = (typeof steps)[number];
const victims = ["courier", "gateway"] as const;
type Victim = (typeof victims)[number];

/** One death is ordered at a time; whoever reaches its step first carries it out. */
class Deaths {
  #ordered: { victim: Victim; step: Step } | undefined;
  server: KeysteadServer | undefined;
  count = 0;

  order(victim: Victim, step: Step): void {
    this.#ordered = { victim, step };
  }

  async reached(step: Step): Promise<void> {
    if (this.#ordered?.step !== step) return;
    const { victim } = this.#ordered;
    this.#ordered = undefined;
    const pid = (await this.server?.children())?.[victim];
    if (pid !== undefined && killIfThere(pid)) this.count += 1;
  }
}

/** A server that sends through this one, where the ordered deaths are carried out. */
async function start(t: TestContext, dialect: Store["dialect"], deaths: Deaths) {
  const source = await testSource(t, dialect);
  if (source === undefined) return undefined;
  const smtp = await startSmtp(t, {
    onConnect: (_, done) => void deaths.reached("connected").then(() => done()),
    onMailFrom: (_, __, done) => void deaths.reached("sender given").then(() => done()),
    onRcptTo: (_, __, done) => void deaths.reached("recipient given").then(() => done()),
    onMail: () => deaths.reached("text given"),
  });
  const server = await startKeystead({
    ...(source.kind === "postgres" && { databaseUrl: source.url }),
    env: { SMTP_URL: smtp.url, KEYSTEAD_MAIL_FROM: "no-reply@example.com", KEYSTEAD_RESTART_PAUSE_MS: "200" },
  });
  deaths.server = server;
  const messages = await openStoredMessages(server, source.kind === "postgres" ? source : undefined);
  const stop = async () => {
    await messages.close();
    await server.stop();
  };
  return { smtp, messages, stop };
}

for (const dialect of dialects) {
  test(`every committed message arrives whoever is killed at whatever step, under one Message-ID, and none that was not committed, on ${dialect}`, {
    skip: process.platform !== "linux" && "needs /proc",
  }, async (t) => {
    const deaths = new Deaths();
    const started = await start(t, dialect, deaths);
    if (started === undefined) return;
    try {
      await killAtEachStep(t, dialect, deaths, started);
    } finally {
      await started.stop();
    }
  });
}

type Started = NonNullable<Awaited<ReturnType<typeof start>>>;

async function killAtEachStep(
  t: TestContext,
  dialect: Store["dialect"],
  deaths: Deaths,
  { smtp, messages }: Started,
): Promise<void> {
  const committed: string[] = [];
  const taken = new Map<string, number>();
  const arrived = () => smtp.received.map((mail) => headerOf(mail, "message-id") ?? "");
  for (const victim of victims) {
    for (const step of steps) {
      deaths.order(victim, step);
      await messages.addInVain();
      const messageId = await messages.add();
      committed.push(messageId);
      const deadline = Date.now() + patienceMs;
      let wasTaken = false;
      while ((await messages.row(messageId))?.state !== "SENT") {
        const count = arrived().filter((id) => id.includes(messageId)).length;
        // The server has the mail, and nobody has noted it yet.
        if (!wasTaken && count > 0) await deaths.reached("taken");
        wasTaken ||= count > 0;
        assert.ok(Date.now() < deadline, `${victim} killed when ${step}: the message did not arrive`);
        await pause(5);
      }
      taken.set(messageId, arrived().filter((id) => id.includes(messageId)).length);
    }
  }
  assert.deepEqual([...new Set(arrived())].sort(), committed.map((messageId) => `<${messageId}@example.com>`).sort());
  assert.ok(deaths.count >= 8, `only ${deaths.count} were killed`);
  const copies = [...taken.values()];
  t.diagnostic(
    `${dialect}: ${committed.length} messages, ${deaths.count} kills, ${copies.filter((count) => count > 1).length} arrived twice`,
  );
  assert.ok(copies.every((count) => count >= 1));
}
