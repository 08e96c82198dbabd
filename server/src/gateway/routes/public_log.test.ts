/** The public log over HTTP: what is served, as what, and that everything else is not there. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { decodeEntries } from "@keystead/core/tlog/tiles.ts";
import { leafHash } from "@keystead/core/tlog/tree.ts";
import { encodeVkey, parseVkey } from "@keystead/core/tlog/vkey.ts";
import { pino } from "pino";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { openTestStore } from "../../../test/open_test_store.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { openKeyring } from "../../signer/secrets/keyring.ts";
import { createGateway } from "../create_gateway.ts";
import type { RouteRequest } from "../http/route.ts";
import { createCourierLink } from "../link/courier_link.ts";
import { createCheckpoints } from "../log/checkpoints.ts";
import { createSignerStatus } from "../signer_status.ts";
import { publicLogRoutes } from "./public_log.ts";

async function start(t: TestContext, hasPrivateLog = false) {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { store, link } = rig;
  const signer = createSignerStatus();
  const gateway = createGateway({
    ...{ store, link, signer, hasPrivateLog },
    curves: nodeCurves,
    courier: createCourierLink(),
    needCourier: () => undefined,
    contactDays: 30,
    refusedBytesPerUserPerDay: 1_000_000,
    log: pino({ level: "silent" }),
  });
  t.after(() => gateway.close());
  const { log } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys;
  signer.setTrouble(undefined);
  signer.setPublicKeys({ log });
  const port = await gateway.listen({ host: "127.0.0.1", port: 0 });
  const get = (path: string, method = "GET") => fetch(`http://127.0.0.1:${port}${path}`, { method });
  const { places } = rig;
  const checkpoints = createCheckpoints({
    ...{ store, link, places, curves: nodeCurves, committer: rig.dependencies.committer },
    logKey: () => log,
    signerTrouble: () => undefined,
    onSigned: () => undefined,
  });
  return { rig, get, sign: checkpoints.sign, logKey: fromHex(log), logId: places.logId ?? "" };
}

test("checkpoint, tiles and entries are served as far as they are signed, each with its type and how long it holds", async (t) => {
  const { rig, get, sign, logKey, logId } = await start(t);
  assert.equal((await get(`/log/${logId}/checkpoint`)).status, 404, "there is none before the first");
  for (const userTagName of ["a", "b"]) await rig.submit(rig.root, "create_user_tag", { userTagName, userIds: [] });
  await sign();
  const checkpoint = await get(`/log/${logId}/checkpoint`);
  assert.equal(checkpoint.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(checkpoint.headers.get("cache-control"), "public, max-age=1");
  const text = await checkpoint.text();
  const vkey = encodeVkey(text.split("\n")[0] ?? "", logKey);
  assert.equal(openCheckpoint(nodeCurves, parseVkey(vkey), text).size, 3);
  const tile = await get(`/log/${logId}/tile/0/000.p/3`);
  assert.equal(tile.headers.get("content-type"), "application/octet-stream");
  assert.equal(tile.headers.get("cache-control"), "public, max-age=31536000, immutable");
  const hashes = new Uint8Array(await tile.arrayBuffer());
  const bytes = new Uint8Array(await (await get(`/log/${logId}/tile/entries/000.p/3`)).arrayBuffer());
  const entries = decodeEntries(bytes);
  assert.deepEqual(
    entries.map(({ length }) => length),
    [32, 32, 32],
  );
  assert.equal(toHex(hashes), entries.map((entry) => toHex(leafHash(entry))).join(""));
  // A size that was signed before is served for ever.
  await rig.submit(rig.root, "create_user_tag", { userTagName: "c", userIds: [] });
  await sign();
  const again = new Uint8Array(await (await get(`/log/${logId}/tile/0/000.p/3`)).arrayBuffer());
  assert.equal(toHex(again), toHex(hashes));
});

test("every other path of a log is a 404, and so is every other log", async (t) => {
  const { rig, get, sign, logId } = await start(t);
  await rig.submit(rig.root, "create_user_tag", { userTagName: "a", userIds: [] });
  await sign();
  const bad = [
    ...["", "/", "/checkpoint/", "/Checkpoint", "/checkpoint/x", "/tile", "/tile/", "/tile/0", "/tile/0/"],
    ...["/tile/0/000", "/tile/0/000.p/3", "/tile/0/000.p/0", "/tile/0/000.p/256", "/tile/0/000.p/02", "/tile/0/000.p/"],
    ...["/tile/0/001.p/1", "/tile/1/000.p/1", "/tile/00/000.p/2", "/tile/-1/000.p/2", "/tile/64/000.p/2"],
    ...["/tile/0/0.p/2", "/tile/0/x000/000.p/2", "/tile/0/x000", "/tile/0/000.p/2/", "/tile/0//000.p/2"],
    ...[
      "/tile/entries/000",
      "/tile/entries/000.p/3",
      "/tile/data/000.p/2",
      "/tile/0/000%2Ep/2",
      "/%63heckpoint",
      "/tile/0/../checkpoint/",
    ],
  ];
  for (const path of bad) assert.equal((await get(`/log/${logId}${path}`)).status, 404, path);
  for (const other of ["0".repeat(32), logId.toUpperCase(), "", "x", `${logId}0`, "%00"]) {
    assert.equal((await get(`/log/${other}/checkpoint`)).status, 404, other);
  }
  assert.equal((await get(`/log/${logId}/tile/0/000.p/2`)).status, 200);
  assert.equal((await get(`/log/${logId}/checkpoint`, "POST")).status, 404);
});

test("a private log is served to nobody and is listed without an address", async (t) => {
  const { rig, get, sign, logId } = await start(t, true);
  await rig.submit(rig.root, "create_user_tag", { userTagName: "a", userIds: [] });
  await sign();
  for (const path of ["checkpoint", "tile/0/000.p/2", "tile/entries/000.p/2"]) {
    assert.equal((await get(`/log/${logId}/${path}`)).status, 404, path);
  }
  const { logs } = (await (await get("/.well-known/keystead.json")).json()) as { logs: object[] };
  assert.deepEqual(logs.map(Object.keys), [["logId", "origin", "vkey", "open"]]);
});

test("strangers who ask for the log by the thousand wait in a short line before the database, and the others are refused", async (t) => {
  const store = (await openTestStore(t, "sqlite")) ?? assert.fail();
  const [route] = publicLogRoutes({ store });
  const params = { logId: "ab".repeat(16), "*": "checkpoint" };
  const request = { method: "GET", url: `/log/${params.logId}/checkpoint`, params } as unknown as RouteRequest;
  const asked = await Promise.allSettled(
    Array.from({ length: 2_000 }, async () => route?.handle(request, () => undefined)),
  );
  const codes = asked.map((each) => (each.status === "rejected" ? each.reason.code : "sent"));
  const counts = Object.fromEntries(
    Map.groupBy(codes, (code) => code)
      .entries()
      .map(([code, all]) => [code, all.length]),
  );
  assert.deepEqual(counts, { not_found: 257, resource_exhausted: 1_743 });
});
