/** Rows of boot proofs that somebody has changed: each is named, and what follows from the proof itself comes back. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { openKeyring } from "../../signer/secrets/keyring.ts";
import type { Store } from "../../store/store.ts";
import type { Tables } from "../../store/tables.ts";
import { recordBoot } from "../record_boot.ts";
import { checkDatabase } from "./check_database.ts";

type Row = Tables["boot_proofs"];

/** Two starts of one signer. */
async function start(t: TestContext, dialect: Store["dialect"]) {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  const { store, link, dependencies, signer } = rig;
  await recordBoot(store, link, dependencies.committer);
  signer.clock.nowMs += 1_000;
  const next = signer.restart();
  Object.assign(signer.operations, next.operations);
  signer.memory = next.memory;
  await recordBoot(store, link, dependencies.committer);
  await dependencies.committer.settle();
  const { log } = openKeyring(signer.rootKey, 1, signer.keyring).publicKeys;
  const check = async (rebuilds = false) => {
    const { ok, lines } = await checkDatabase(store, inProcess({ operations: checkingSigner(signer) }), log, {
      rebuilds,
    });
    return ok ? "" : lines.join("\n");
  };
  return { rig, check };
}

const rowsOf = ({ store }: GatewayRig): Promise<Row[]> =>
  store.db.selectFrom("boot_proofs").selectAll().orderBy("created_at_ms").execute();

const bent = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, at) => (at === 200 ? byte ^ 1 : byte));

for (const dialect of dialects) {
  test(`on ${dialect} columns beside a boot proof come back, and a second proof of one start is put out`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, check } = started;
    const { db } = rig.store;
    assert.equal(await check(), "");
    const before = await rowsOf(rig);
    const [first, second] = before;
    assert.ok(first && second);
    const change = (columns: Partial<Row>) =>
      db.updateTable("boot_proofs").set(columns).where("ephemeral_key", "=", first.ephemeral_key).execute();
    const add = (columns: Partial<Row>) =>
      db
        .insertInto("boot_proofs")
        .values({ ...first, ...columns })
        .execute();
    const other = "04".repeat(130);
    const damages: Record<string, [() => Promise<unknown>, RegExp]> = {
      "another key": [
        () => change({ ephemeral_key: other }),
        /boot_proofs 0404040404040404… of boot \S+: ephemeral_key not/,
      ],
      "another start": [
        () => change({ boot: "00".repeat(16) }),
        /boot_proofs \S+ of boot 0{32}: boot not as in the proof/,
      ],
      "another time": [() => change({ created_at_ms: 1 }), /: created_at_ms not as in the proof/],
      "another list": [() => change({ files_digest: "00".repeat(32) }), /: files_digest not as in the proof/],
      twice: [() => add({ ephemeral_key: other }), /boot_proofs \S+ of boot \S+: it is there twice/],
      "another in its place": [
        async () => {
          await change({ ephemeral_key: other });
          await add({ proof: randomBytes(300) });
        },
        /boot_proofs 0404040404040404… of boot \S+: ephemeral_key not as in the proof/,
      ],
      "a later one put in": [
        () => add({ ephemeral_key: other, proof: bent(first.proof), created_at_ms: second.created_at_ms + 1 }),
        /boot_proofs 0404040404040404… of boot \S+: its start has shown another/,
      ],
    };
    for (const [name, [damage, finds]] of Object.entries(damages)) {
      await damage();
      assert.match(await check(), finds, name);
      assert.equal(await check(true), "", name);
      assert.deepEqual(await rowsOf(rig), before, name);
    }
  });

  test(`on ${dialect} boot proofs and lists that are changed, gone or of nobody are named`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, check } = started;
    const { db } = rig.store;
    const { organizationId: child } = await rig.newSubOrganization(1, ["Ann"]);
    await rig.dependencies.committer.settle();
    const [first] = await rowsOf(rig);
    const [files] = await db.selectFrom("loaded_files").selectAll().execute();
    assert.ok(first && files);
    const own = () => db.updateTable("boot_proofs").where("ephemeral_key", "=", first.ephemeral_key);
    const missing = `organization ${rig.organizationId}: boot_proofs: the proof of signer boot ${first.boot} is missing or changed; only a backup`;
    const strange = "no leaf of a start names it: it was changed or put in, or the leaf is gone; only a backup";

    await own()
      .set({ proof: bent(first.proof) })
      .execute();
    const changed = await check(true);
    assert.ok(changed.includes(missing) && changed.includes(`of boot ${first.boot}: ${strange}`), changed);
    await own().set({ proof: first.proof }).execute();

    await own().set({ organization_id: child }).execute();
    const moved = await check(true);
    assert.ok(moved.includes(missing) && moved.includes(`organization ${child}: boot_proofs `), moved);
    await own().set({ organization_id: rig.organizationId }).execute();

    const stranger = { ...first, ephemeral_key: "04".repeat(130), boot: "00".repeat(16), proof: randomBytes(300) };
    await db.insertInto("boot_proofs").values(stranger).execute();
    const foreign = await check(true);
    assert.ok(foreign.includes(`boot_proofs 0404040404040404… of boot ${"0".repeat(32)}: ${strange}`), foreign);
    await db.deleteFrom("boot_proofs").where("boot", "=", stranger.boot).execute();

    await db.deleteFrom("boot_proofs").where("ephemeral_key", "=", first.ephemeral_key).execute();
    assert.ok((await check(true)).includes(missing));
    await db.insertInto("boot_proofs").values(first).execute();

    await db
      .updateTable("loaded_files")
      .set({ list: Buffer.from("nothing") })
      .execute();
    const list = await check(true);
    assert.ok(list.includes(`loaded_files ${files.digest}: its content is another; only a backup`), list);
    await db.deleteFrom("loaded_files").execute();
    const gone = `loaded_files ${files.digest}: it is missing, and the proof of signer boot ${first.boot} names it`;
    assert.ok((await check(true)).includes(gone));
    await db.insertInto("loaded_files").values(files).execute();
    assert.equal(await check(), "");
  });
}
