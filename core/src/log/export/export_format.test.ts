import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/seeded_random.ts";
import { sha256 } from "../../../test/webauthn/authenticator.ts";
import type { Leaf } from "../leaf.ts";
import { formatLogStatement, parseLogStatement } from "../statement.ts";
import { misfitsIn } from "./export_files.ts";
import { decodeProvenLeaf, encodeProvenLeaf, encodeRecords, type LeafRecord, readRecords } from "./leaf_record.ts";
import { readLogList } from "./log_list.ts";
import { namedBodies, pickBodies } from "./named_bodies.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((text) => new Uint8Array(Buffer.from(text))) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

const records: LeafRecord[] = [
  { position: 0, ordinal: 1, leaf: a, bodies: [b, c] },
  { position: 7, ordinal: 2, leaf: undefined, bodies: [] },
  { position: 2 ** 40, ordinal: 3, leaf: d, bodies: [] },
];

test("records are read as they were written, and all before a damaged one", () => {
  const file = encodeRecords(records);
  assert.deepEqual(
    [...readRecords(file)],
    records.map((record) => ({ record })),
  );
  assert.deepEqual([...readRecords(new Uint8Array())], []);
  for (let length = 0; length < file.length; length++) {
    const read = [...readRecords(file.subarray(0, length))];
    const whole = read.filter((each) => "record" in each);
    assert.deepEqual(
      whole,
      records.slice(0, whole.length).map((record) => ({ record })),
    );
    const isCut = encodeRecords(records.slice(0, whole.length)).length < length;
    assert.deepEqual(read.slice(whole.length), isCut ? [{ malformed: "malformed bytes: too short" }] : []);
  }
  // A byte more in the first record is that record's fault.
  const long = Uint8Array.from([...file.subarray(0, 3), (file[3] ?? 0) + 1, ...file.subarray(4)]);
  assert.deepEqual([...readRecords(long)], [{ malformed: "malformed bytes: trailing bytes" }]);
});

test("no flipped bit of a file of records is read as the same records", () => {
  const file = encodeRecords(records);
  const random = seededRandom(1);
  for (let round = 0; round < 500; round++) {
    const copy = Uint8Array.from(file);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    assert.notDeepEqual(
      [...readRecords(copy)],
      records.map((record) => ({ record })),
      `byte ${at}`,
    );
  }
});

test("the leaf in a proof file has one encoding", () => {
  const leaf = { ordinal: 5, leaf: a, bodies: [b] };
  assert.deepEqual(decodeProvenLeaf(encodeProvenLeaf(leaf)), leaf);
  const long = Uint8Array.of(...encodeProvenLeaf(leaf), 0);
  assert.throws(() => decodeProvenLeaf(long), { message: "malformed bytes: trailing bytes" });
});

const leafOf = (fields: Partial<Leaf>): Leaf => ({
  format: 2,
  boot: new Uint8Array(16),
  number: 1,
  blind: new Uint8Array(16),
  event: "COMPLETED",
  grounds: "POLICY",
  organizationId: new Uint8Array(16),
  activityId: new Uint8Array(16),
  activityType: "",
  fingerprint: sha256(a),
  timeMs: 0,
  states: [],
  header: undefined,
  evidence: [],
  outside: [],
  outcome: sha256(""),
  ...fields,
});

test("a leaf names each of its bodies once and in one order, and nothing that is nobody's to show", () => {
  const evidence = [{ userId: new Uint8Array(16), credentialId: undefined, body: sha256(b) }].map((each) => ({
    ...each,
    content: { kind: "authProxy" as const, value: { configId: new Uint8Array(16) } },
  }));
  const outside = [
    { kind: "made" as const, value: { kind: "digest" as const, value: sha256(c) } },
    { kind: "importTarget" as const, value: { kind: "digest" as const, value: sha256("page") } },
    { kind: "memoryVerdict" as const, value: { kind: "bytes" as const, value: d } },
  ];
  const act = leafOf({ evidence, outside, outcome: sha256(d) });
  assert.deepEqual(
    namedBodies(act).map(({ role }) => role),
    ["stamped body", "value from outside", "outcome"],
  );
  // The activity's own body belongs to the leaf of its submission.
  assert.deepEqual(pickBodies(act, [d, a, c, b, b]), [b, c, d]);
  assert.deepEqual(pickBodies(leafOf({ event: "BOOTED", grounds: "OPERATOR", outcome: sha256(c) }), [c, a]), [a, c]);
  const accepted = leafOf({ event: "DATABASE_ACCEPTED", fingerprint: new Uint8Array(32), outcome: sha256(c) });
  assert.deepEqual(namedBodies(accepted), []);
});

test("a list of logs is read from its page, and nothing else is", () => {
  const read = (value: unknown) => readLogList(new Uint8Array(Buffer.from(JSON.stringify(value))));
  const [one, two] = ["ab".repeat(16), "cd".repeat(16)];
  const previous = { logId: one, size: 5, root: "00".repeat(32) };
  assert.deepEqual(
    read({
      format: 1,
      logs: [
        { logId: one, openedAtMs: 1 },
        { logId: two, previous },
      ],
    }),
    [
      { logId: one, previous: undefined },
      { logId: two, previous },
    ],
  );
  const refused: [unknown, string][] = [
    [{}, "no logs"],
    [{ logs: [] }, "no logs"],
    [[], "not an object"],
    [{ logs: [{ logId: "../../etc" }] }, "an id is not 32 hex digits"],
    [{ logs: [{ logId: one }, { logId: one }] }, "one log twice"],
    [{ logs: [{ logId: two, previous: { ...previous, size: -0.5 } }] }, "a log follows what is no head"],
  ];
  for (const [value, why] of refused) assert.throws(() => read(value), { message: `malformed list of logs: ${why}` });
  assert.throws(() => readLogList(new Uint8Array()), { message: "malformed list of logs: not JSON" });
});

test("files that are missing or extra are named", () => {
  const [logId, organizationId] = ["ab".repeat(16), "00000000-0000-4000-8000-000000000000"];
  const files = new Map(
    ["logs", `${logId}/checkpoint`, `${organizationId}/${logId}.leaves`, `${organizationId}/x`, "a/b"].map((path) => [
      path,
      a,
    ]),
  );
  assert.deepEqual(misfitsIn(files, [logId]), {
    missing: [`${logId}/entries`, `${logId}/operator`],
    extra: [`${organizationId}/x`, "a/b"],
  });
});

test("a statement has one spelling", () => {
  const statement = {
    organizationId: "00000000-0000-4000-8000-000000000000",
    logId: "ab".repeat(16),
    ...{ count: 3, size: 10, timeMs: 1_700_000_000_000, logs: "cd".repeat(32) },
  };
  const text = formatLogStatement(statement);
  assert.equal(
    text,
    "keystead log statement v1\norganization 00000000-0000-4000-8000-000000000000\n" +
      `log ${"ab".repeat(16)}\ncount 3\nsize 10\ntime 1700000000000\nlogs ${"cd".repeat(32)}\n`,
  );
  assert.deepEqual(parseLogStatement(text), statement);
  const refused: [string, string][] = [
    [text.replace("count 3", "count 03"), "a number is not decimal"],
    [text.replace("count 3", "count 11"), "more leaves than the log has"],
    [`${text}more\n`, "not 7 lines"],
    [text.slice(0, -1), "not 7 lines"],
    [text.replace("v1", "v2"), "an unknown first line"],
    [text.replace("size", "length"), "no size"],
    [text.replace("log ab", "log AB"), "the log is not 32 hex digits"],
    [text.replace("-4000-", "-4A00-"), "the organization is not a lower-case UUID"],
  ];
  for (const [changed, why] of refused) {
    assert.throws(() => parseLogStatement(changed), { message: `malformed log statement: ${why}` });
  }
});
