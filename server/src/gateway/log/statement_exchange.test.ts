/** Two hosts on one database, each with a log of its own. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { answerStatement } from "../../store/log_statements.ts";
import { keepLog, noteEndedLogs } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { createStatementExchange, type StatementExchange } from "./statement_exchange.ts";

const otherId = "0b".repeat(16);
const going = new AbortController().signal;

async function start(t: TestContext, dialect: Store["dialect"], waitMs: number) {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  const { store, organizationId } = rig;
  await keepLog(store, otherId, `keystead/test/${otherId}`, Date.now());
  const signerTrouble = () => undefined;
  const own = createStatementExchange({ ...rig, signerTrouble, waitMs });
  let signed = 0;
  const request = async (kind: string, message: { organizationId: string }) => {
    assert.equal(kind, "logStatement");
    signed += 1;
    return { kind: "signed", value: { note: `${signed} of ${message.organizationId}` } };
  };
  const link = { request: request as unknown as SignerLink["request"] };
  const other = createStatementExchange({ store, link, places: { logId: otherId }, signerTrouble, waitMs });
  return { rig, store, organizationId, own, other };
}

/** The other host looks for questions until this is over. */
async function answering<T>(other: StatementExchange, asked: Promise<T>): Promise<T> {
  const ended = asked.then(
    () => true,
    () => true,
  );
  const later = () => new Promise<boolean>((done) => setTimeout(done, 20, false));
  do await other.job.run(going);
  while (!(await Promise.race([ended, later()])));
  return asked;
}

const away = {
  code: "unavailable",
  message: `log ${otherId} is another host's, which does not answer: only its signer can say how many leaves are in it`,
};

for (const dialect of dialects) {
  test(`on ${dialect} a host gets statements about another host's log from that host, a new one each time`, async (t) => {
    const started = await start(t, dialect, 60_000);
    if (started === undefined) return;
    const { organizationId, own, other } = started;
    const second = crypto.randomUUID();
    for (const expected of [1, 2]) {
      const { statement, logs } = await answering(other, own.logStatement(organizationId, otherId));
      assert.equal(statement, `${expected} of ${organizationId}`);
      assert.ok(JSON.stringify(JSON.parse(logs)).includes(started.rig.places.logId ?? "?"));
    }
    const both = Promise.all([own.logStatement(organizationId, otherId), own.logStatement(second, otherId)]);
    assert.deepEqual(
      (await answering(other, both)).map(({ statement }) => statement.slice(-36)),
      [organizationId, second],
    );
  });

  test(`on ${dialect} a host that does not answer is named, is waited for once, and answers when it is back`, async (t) => {
    const started = await start(t, dialect, 2_000);
    if (started === undefined) return;
    const { organizationId, own, other } = started;
    await assert.rejects(own.logStatement(organizationId, otherId), away);
    const begun = performance.now();
    await assert.rejects(own.logStatement(crypto.randomUUID(), otherId), away);
    assert.ok(performance.now() - begun < 1_900);
    await other.job.run(going);
    const { statement } = await answering(other, own.logStatement(organizationId, otherId));
    assert.equal(statement.slice(-36), organizationId);
  });

  test(`on ${dialect} an answer that was signed before it was asked for is not taken for one`, async (t) => {
    const started = await start(t, dialect, 2_000);
    if (started === undefined) return;
    const { store, organizationId, own, other } = started;
    const asked = own.logStatement(organizationId, otherId);
    while ((await store.db.selectFrom("log_statements").selectAll().execute()).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // Asked for again between the signature and its storing.
    await store.db.updateTable("log_statements").set({ ask: "later" }).execute();
    const early = { statement: "early", logs: "{}" };
    await answerStatement(store, organizationId, otherId, "before", early);
    await other.job.run(going);
    assert.equal((await asked).statement, `1 of ${organizationId}`);
  });

  test(`on ${dialect} nobody is asked about a log that has ended or that is not there`, async (t) => {
    const started = await start(t, dialect, 300);
    if (started === undefined) return;
    const { store, organizationId, own } = started;
    await noteEndedLogs(store, [otherId]);
    await assert.rejects(own.logStatement(organizationId, otherId), {
      code: "not_found",
      message: `log ${otherId} has ended: no signer speaks for it any more`,
    });
    const unknown = "0".repeat(32);
    await assert.rejects(own.logStatement(organizationId, unknown), {
      code: "not_found",
      message: `unable to find log ${unknown}`,
    });
    assert.deepEqual(await store.db.selectFrom("log_statements").selectAll().execute(), []);
  });
}
