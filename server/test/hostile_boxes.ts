/** Records, secrets, released rows and keyrings, mixed up or bent. */

import { protocolVersion } from "../src/frames/frame.ts";
import { createKeyring } from "../src/signer/secrets/keyring.ts";
import { sha256 } from "../src/state/digest.ts";
import { samples } from "./hostile_frames.ts";
import {
  type Attack,
  flip,
  honest,
  links,
  newest,
  older,
  on,
  prepare,
  release,
  type Shot,
  sealedRows,
  seenOf,
} from "./hostile_material.ts";
import { offered } from "./hostile_run.ts";
import { shuffled } from "./seeded_random.ts";

export const boxAttacks = {
  "the record of another key, or of another organization": (aim) => {
    const want = aim.random.pick([
      aim.want("a user whom a policy allows it signs"),
      aim.want("the same user signs with another organization's wallet"),
    ]);
    const { records } = seenOf(aim);
    const theirs = seenOf(aim, aim.run.neighbour.organizationId).records;
    const plain = (list: typeof records) => list.map(({ content, sealed }) => ({ content, sealed }));
    return [plain(theirs), plain([...records, ...theirs]), plain([aim.random.pick(records)]), []].map((list) =>
      prepare({ ...honest(aim, want), records: list }),
    );
  },
  "secrets under each other's records": (aim) => {
    const want = aim.want("a user whom a policy allows it signs");
    const { records } = seenOf(aim);
    const boxes = shuffled(
      records.map(({ sealed }) => sealed),
      aim.random,
    );
    const swapped = records.map(({ content }, index) => ({ content, sealed: boxes[index] ?? new Uint8Array() }));
    return [prepare({ ...honest(aim, want), records: swapped })];
  },
  "a record edited, or its secret": (aim) => {
    const want = aim.want("a user whom a policy allows it signs");
    const { records } = honest(aim, want);
    return records.flatMap(({ content, sealed }, index) => [
      prepare({ ...honest(aim, want), records: records.with(index, { content: flip(content, aim.random), sealed }) }),
      prepare({ ...honest(aim, want), records: records.with(index, { content, sealed: flip(sealed, aim.random) }) }),
    ]);
  },
  "the text of an interface withheld": (aim) => {
    const want = aim.want("the same user signs what a policy denies");
    const { records } = seenOf(aim);
    const texts = records.filter(({ record }) => record.kind === "contractInterface");
    const others = records
      .filter(({ record }) => record.kind !== "contractInterface")
      .map(({ content, sealed }) => ({ content, sealed }));
    const looked = texts.map(({ record }) =>
      JSON.stringify({
        by: "id",
        kind: "contractInterface",
        id: record.kind === "contractInterface" ? record.interfaceId : "",
      }),
    );
    return [[], looked].map((wishes) => prepare({ ...honest(aim, want), records: others, wishes }));
  },
  "wishes that nobody made": (aim) => {
    const wishes = Array.from({ length: 1 + aim.random.below(50) }, () =>
      aim.random.pick(["{}", "x", '{"by":"id"}', "null"]),
    );
    return [prepare({ ...honest(aim, aim.want()), wishes })];
  },
  "no state, after another's": (aim) => {
    const foreign = aim.want();
    return [
      on(aim, foreign, offered(newest(aim, aim.run.neighbour.organizationId))),
      on(aim, foreign, offered(older(aim))),
      prepare({ ...honest(aim, aim.want()), state: undefined }),
    ];
  },
  "a birth once more": (aim) => {
    const births = aim.run.requests.filter(({ body }) => Buffer.from(body).includes("CREATE_SUB_ORGANIZATION"));
    const { body, stamp } = aim.random.pick(births);
    const child = aim.random.pick([...aim.run.seen.values()]);
    return [
      prepare(aim.run.frame(body, stamp)),
      prepare({ ...aim.run.frame(body, stamp), journal: new Uint8Array() }),
      release(child.rows.slice(0, 1), []),
    ];
  },
  "released rows in another order, and twice": (aim) => {
    const { rows } = seenOf(aim);
    return [release(shuffled(rows, aim.random), []), release([...rows.slice(-3), ...rows.slice(-3)], links(aim))];
  },
  "a leaf that is bent": (aim) => {
    const row = aim.random.pick(seenOf(aim).rows);
    return [release([{ leaf: flip(row.leaf, aim.random), sealed: row.sealed }], links(aim))];
  },
  "a result under another leaf": (aim) => {
    const rows = sealedRows(aim);
    const boxes = shuffled(rows, aim.random);
    return [
      release(
        rows.map(({ leaf }, index) => ({ leaf, sealed: boxes[index]?.sealed })),
        [],
      ),
    ];
  },
  "a result of another organization": (aim) => {
    const theirs = seenOf(aim, aim.run.neighbour.organizationId).rows.filter(({ sealed }) => sealed !== undefined);
    const leaf = aim.random.pick(seenOf(aim).rows).leaf;
    return [
      release(
        theirs.map(({ sealed }) => ({ leaf, sealed })),
        [],
      ),
    ];
  },
  "a record's secret as a result": (aim) => {
    const { rows, records } = seenOf(aim);
    return [
      release(
        records.map(({ sealed }) => ({ leaf: aim.random.pick(rows).leaf, sealed })),
        [],
      ),
    ];
  },
  "a header or a record as a leaf": (aim) => {
    const { records } = seenOf(aim);
    const rows = [...links(aim), ...records.map(({ content }) => content)].map((leaf) => ({ leaf, sealed: undefined }));
    return [release(rows, links(aim))];
  },
  "a keyring that is bent, cut or none": (aim) => {
    const { keyring } = aim.run;
    const others = [
      flip(keyring, aim.random),
      keyring.subarray(1),
      // Of another installation: well-formed, and sealed under another root key.
      createKeyring(new Uint8Array(32).fill(7), 1),
      new Uint8Array(),
      aim.random.pick(seenOf(aim).records).sealed,
    ];
    return [
      ...others.map((each): Shot => ({ kind: "hello", message: { protocol: protocolVersion, keyring: each } })),
      { kind: "hello", message: { protocol: protocolVersion, keyring } },
      { kind: "hello", message: { protocol: protocolVersion, keyring } },
    ];
  },
  "what only an operator may order": (aim) => [
    { kind: "birth", message: samples.birth() },
    { kind: "accept", message: { headers: [aim.random.pick(links(aim))], last: false } },
    { kind: "accept", message: samples.accept(aim) },
    { kind: "reseal", message: samples.reseal(aim) },
  ],
  "questions about forged rows": (aim) => {
    const { rows, records } = seenOf(aim);
    const forged = rows.map(({ leaf }) => flip(leaf, aim.random));
    const boxes = records.map(({ content, sealed }) => ({
      content: flip(content, aim.random),
      sealed: flip(sealed, aim.random),
    }));
    // Boxes of other things, and bent ones, as if they were bodies of this organization.
    const bodies = [...records, ...boxes].map(({ sealed }, index) => ({
      organizationId: aim.run.targetOrganization.organizationId,
      fingerprint: sha256(aim.run.requests[index % aim.run.requests.length]?.body ?? new Uint8Array()),
      sealed,
    }));
    return [
      {
        kind: "vouch",
        message: { leaves: forged, heads: links(aim).map((head) => flip(head, aim.random)), records: boxes, bodies },
      },
      { kind: "openBodies", message: { bodies } },
      { kind: "statement", message: { page: aim.random.below(2 ** 32) } },
      { kind: "pins", message: { page: aim.random.below(2 ** 32) } },
    ];
  },
} as const satisfies Record<string, Attack>;
