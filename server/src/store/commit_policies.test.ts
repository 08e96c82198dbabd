/** Policies, interfaces of contracts, and what policies said about votes, from commits to readers. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newActivity, nowMs, signing, stateChange } from "../../test/store_items.ts";
import { type ContractInterface, type Policy, put, remove } from "../state/entities.ts";
import { encodeRecord } from "../state/records.ts";
import { commitGroup } from "./commit.ts";
import type { CommitItem, NewRecordRow } from "./commit_item.ts";
import { findContractInterface, listContractInterfaces } from "./contract_interfaces.ts";
import { findPolicy, listPolicies } from "./policies.ts";
import { findEvaluatedVotes } from "./policy_evaluations.ts";
import { findRecords } from "./records.ts";
import type { Store } from "./store.ts";

async function commit(store: Store, ...items: CommitItem[]): Promise<boolean[]> {
  return (await commitGroup(store, items, [])).committed;
}

/** The text must come back byte for byte: line breaks, quotes, and letters beyond ASCII. */
const written = `activity.type == 'A'\n  && "ä 🔑" != '\\\\'  `;

function policy(changes: Partial<Policy> = {}): Policy {
  return {
    policyId: randomUUID(),
    policyName: "Treasury",
    effect: "EFFECT_ALLOW",
    consensus: "",
    condition: written,
    time: "",
    notes: "",
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...changes,
  };
}

function listed(changes: Partial<ContractInterface> = {}): ContractInterface {
  return {
    interfaceId: randomUUID(),
    type: "ETHEREUM",
    address: `0x${randomBytes(20).toString("hex")}`,
    label: "Token",
    notes: "",
    length: 2,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...changes,
  };
}

function textRow(organizationId: string, { interfaceId }: ContractInterface, text: string): NewRecordRow {
  const content = encodeRecord({ kind: "contractInterface", organizationId, interfaceId, text });
  return { content: Buffer.concat([content, randomBytes(32)]), sealed: new Uint8Array() };
}

/** An item that creates an interface. */
function creating(organizationId: string, version: number, entry: ContractInterface, text: string): CommitItem {
  return stateChange(organizationId, version, {
    changes: [put("contractInterface", entry)],
    records: [textRow(organizationId, entry, text)],
  });
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

for (const dialect of dialects) {
  describe(`policies on ${dialect}`, () => {
    const withOrganization = (name: string, run: (store: Store, organizationId: string) => Promise<void>) =>
      test(name, async (t) => {
        const store = await openTestStore(t, dialect);
        if (store === undefined) return;
        const organizationId = randomUUID();
        assert.deepEqual(await commit(store, birth(organizationId)), [true]);
        await run(store, organizationId);
      });

    withOrganization(
      "a policy is read as it was written, the oldest first, in its organization only",
      async (store, id) => {
        const other = randomUUID();
        await commit(store, birth(other));
        const second = policy({ createdAtMs: nowMs + 1, effect: "EFFECT_DENY", time: written, notes: "a\nb" });
        const first = policy({ consensus: written, condition: "" });
        const theirs = policy();
        const changes = [put("policy", second), put("policy", first)];
        await commit(
          store,
          stateChange(id, 1, { changes }),
          stateChange(other, 1, { changes: [put("policy", theirs)] }),
        );
        assert.deepEqual(await listPolicies(store, id), [first, second]);
        assert.deepEqual(await findPolicy(store, id, second.policyId), second);
        assert.equal(await findPolicy(store, id, theirs.policyId), undefined);
        assert.deepEqual(await listPolicies(store, other), [theirs]);
      },
    );

    withOrganization(
      "a policy is changed and deleted where it lies, and of one group the last word stands",
      async (store, id) => {
        const [kept, gone] = [policy(), policy()];
        await commit(store, stateChange(id, 1, { changes: [put("policy", kept), put("policy", gone)] }));
        const changed = { ...kept, policyName: "Renamed", condition: "", updatedAtMs: nowMs + 5 };
        const [brief, late] = [policy(), policy()];
        const lateChanged: Policy = { ...late, effect: "EFFECT_DENY", createdAtMs: nowMs + 9 };
        assert.deepEqual(
          await commit(
            store,
            stateChange(id, 2, { changes: [put("policy", { ...changed, notes: "first" }), put("policy", brief)] }),
            stateChange(id, 3, { changes: [put("policy", changed), remove("policy", gone.policyId)] }),
            stateChange(id, 4, { changes: [remove("policy", brief.policyId), put("policy", late)] }),
            stateChange(id, 5, { changes: [put("policy", lateChanged)] }),
          ),
          [true, true, true, true],
        );
        assert.deepEqual(await listPolicies(store, id), [changed, lateChanged]);
      },
    );

    withOrganization(
      "an interface is stored with its text, and the text is found for the signer as it was marked",
      async (store, id) => {
        const [abi, idl] = [
          listed({ notes: "n" }),
          listed({ type: "SOLANA", address: "Prog", createdAtMs: nowMs - 1 }),
        ];
        const text = `[{"name":"ä\\n"}]`;
        await commit(store, creating(id, 1, abi, text), creating(id, 2, idl, "{}"));
        const { length: _, ...entry } = abi;
        assert.deepEqual(await findContractInterface(store, id, abi.interfaceId), { ...entry, text });
        assert.deepEqual(
          (await listContractInterfaces(store, id)).map(({ interfaceId, text }) => [interfaceId, text]),
          [
            [idl.interfaceId, "{}"],
            [abi.interfaceId, text],
          ],
        );
        const wish = { by: "id", kind: "contractInterface", id: abi.interfaceId } as const;
        const [found, ...others] = await findRecords(store, id, wish);
        assert.deepEqual(others, []);
        assert.ok(found);
        const marked = encodeRecord({
          kind: "contractInterface",
          organizationId: id,
          interfaceId: abi.interfaceId,
          text,
        });
        assert.deepEqual(Buffer.from(found.content).subarray(0, -32), marked);
        assert.equal(found.sealed.length, 0);
        assert.deepEqual(await findRecords(store, randomUUID(), wish), []);
      },
    );

    withOrganization("an address passes from a deleted interface to a new one within a group", async (store, id) => {
      const before = listed();
      await commit(store, creating(id, 1, before, "[]"));
      const after = listed({ address: before.address });
      const removal = stateChange(id, 2, { changes: [remove("contractInterface", before.interfaceId)] });
      assert.deepEqual(await commit(store, removal, creating(id, 3, after, "[1]")), [true, true]);
      const left = await listContractInterfaces(store, id);
      assert.deepEqual(
        left.map(({ interfaceId, text }) => [interfaceId, text]),
        [[after.interfaceId, "[1]"]],
      );
    });

    withOrganization("an interface without its text, or with another's, is never stored", async (store, id) => {
      const entry = listed();
      const alone = stateChange(id, 1, { changes: [put("contractInterface", entry)] });
      await assert.rejects(commit(store, alone), {
        code: "internal",
        message: "an interface is listed without its text",
      });
      const foreign = { ...alone, records: [textRow(randomUUID(), entry, "[]")] };
      await assert.rejects(commit(store, foreign), { code: "internal", message: "a record of another organization" });
      const others = { ...alone, records: [textRow(id, listed(), "[]")] };
      await assert.rejects(commit(store, others), { code: "internal" });
      assert.deepEqual(await listContractInterfaces(store, id), []);
    });

    withOrganization(
      "what policies said stays with each vote, whatever becomes of the activity later",
      async (store, id) => {
        const status = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
        const waiting = newActivity({ status, result: null, votes: '[{"id":"v1"}]' });
        const completed = { ...waiting, status: "ACTIVITY_STATUS_COMPLETED", votes: "[]" };
        const vote = (voteId: string, ms: number) => ({
          vote: { activityId: waiting.activityId, voteId, vote: `{"id":"${voteId}"}`, createdAtMs: nowMs + ms },
        });
        const second = {
          activity: { ...waiting, votes: "[]" },
          ...vote("v2", 1),
          evaluations: bytes("2"),
          explanation: "[2]",
        };
        const last = { activity: completed, ...vote("v3", 2), evaluations: bytes("3") };
        await commit(
          store,
          stateChange(id, 1, { activity: waiting, evaluations: bytes("1"), explanation: "[1]" }),
          stateChange(id, 2, second),
        );
        await commit(store, stateChange(id, 3, last));
        const found = await findEvaluatedVotes(store, id, waiting.activityId);
        assert.deepEqual(
          found?.map(({ evaluations, ...rest }) => ({
            ...rest,
            evaluations: evaluations && Buffer.from(evaluations).toString(),
          })),
          [
            { vote: '{"id":"v1"}', evaluations: "1", explanation: "[1]" },
            { vote: '{"id":"v2"}', evaluations: "2", explanation: "[2]" },
            { vote: '{"id":"v3"}', evaluations: "3", explanation: null },
          ],
        );
        assert.equal(await findEvaluatedVotes(store, randomUUID(), waiting.activityId), undefined);
      },
    );

    withOrganization("where no policy was asked, nothing is kept", async (store, id) => {
      const activity = newActivity({ votes: '[{"id":"v1"}]' });
      await commit(store, signing(id, 1, { activity }));
      assert.deepEqual(await findEvaluatedVotes(store, id, activity.activityId), [
        { vote: '{"id":"v1"}', evaluations: null, explanation: null },
      ]);
    });
  });
}
