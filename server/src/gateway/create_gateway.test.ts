/** The whole gateway in this process, over HTTP, with a signer beside it. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { encodeVkey } from "@keystead/core/tlog/vkey.ts";
import { p256 } from "@noble/curves/nist.js";
import { pino } from "pino";
import { createGatewayRig, type GatewayRig } from "../../test/gateway_rig.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import { findLog } from "../store/public_log.ts";
import { createGateway } from "./create_gateway.ts";
import { createCourierLink } from "./link/courier_link.ts";
import type { SignerLink } from "./link/signer_link.ts";
import { joinLog } from "./log/join_log.ts";
import { createSignerStatus } from "./signer_status.ts";

async function start(
  t: TestContext,
  options: { checkpointFile?: string; changed?: (link: SignerLink) => SignerLink } = {},
) {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { store, organizationId, root } = rig;
  const { checkpointFile, changed = (link: SignerLink) => link } = options;
  const link = changed(rig.link);
  const signer = createSignerStatus();
  const log = pino({ level: "silent" });
  const gateway = createGateway({
    store,
    curves: nodeCurves,
    link,
    signer,
    courier: createCourierLink(),
    needCourier: () => undefined,
    contactDays: 30,
    refusedBytesPerUserPerDay: 1_000_000,
    checkpointFile,
    log,
  });
  t.after(() => gateway.close());
  const port = await gateway.listen({ host: "127.0.0.1", port: 0 });
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const stampOf = (body: Uint8Array, { privateKey } = root) =>
    signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  const post = (path: string, body: Uint8Array<ArrayBuffer>, stamp = stampOf(body), more: RequestInit = {}) => {
    const url = `http://127.0.0.1:${port}/public/v1/${path}`;
    return fetch(url, { method: "POST", body, headers: { "x-stamp": stamp }, ...more });
  };
  const whoami = Buffer.from(JSON.stringify({ organizationId }));
  /** As `main.ts` does when a signer has come. */
  const join = async () => {
    const { places, committer, signLog: sign } = gateway;
    const joining = { store, link: places.watch(link), committer, places, sign, note: assert.fail };
    await joinLog(joining, { serves: true });
    signer.setPublicKeys({ log: openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys.log });
    signer.setTrouble(undefined);
  };
  return { rig, gateway, signer, get, post, stampOf, whoami, join };
}

test("a gateway without a signer answers queries and refuses activities; with one it is ready and does both", async (t) => {
  const { rig, signer, get, post, whoami } = await start(t);
  const tag = { userTagName: "Ops", userIds: [] };
  assert.equal((await get("/healthz")).status, 200);
  assert.equal((await get("/readyz")).status, 503);
  assert.equal((await post("query/whoami", whoami)).status, 200);
  const refused = await post("submit/create_user_tag", Buffer.from(rig.body("create_user_tag", tag)));
  assert.equal(refused.status, 503);
  signer.setTrouble(undefined);
  const { log } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys;
  signer.setPublicKeys({ log });
  assert.deepEqual(await (await get("/readyz")).json(), { status: "ready" });
  const { logId = "" } = rig.places;
  const origin = (await findLog(rig.store, logId))?.origin ?? "";
  const url = `${(await get("/healthz")).url.replace("/healthz", "")}/log/${logId}`;
  assert.deepEqual(await (await get("/.well-known/keystead.json")).json(), {
    publicKeys: { log },
    logs: [{ logId, origin, url, vkey: encodeVkey(origin, fromHex(log)), open: true }],
  });
  const done = await post("submit/create_user_tag", Buffer.from(rig.body("create_user_tag", tag)));
  assert.equal(done.status, 200);
  const metrics = await (await get("/metrics")).text();
  assert.match(metrics, /keystead_requests_total\{kind="submit",path="create_user_tag",status="503"\} 1/);
  assert.match(metrics, /keystead_requests_total\{kind="submit",path="create_user_tag",status="200"\} 1/);
  assert.match(metrics, /keystead_held_bytes\{where="commits"\} 0/);
});

test("a gateway that has closed answers nothing", async (t) => {
  const { gateway, post, whoami } = await start(t);
  assert.equal((await post("query/whoami", whoami)).status, 200);
  await gateway.close();
  await assert.rejects(post("query/whoami", whoami));
});

test("what was released last is signed before a gateway has closed, and is in the file of checkpoints", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-close-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const checkpointFile = join(folder, "checkpoints");
  const { rig, gateway, post, join: joinSigner } = await start(t, { checkpointFile });
  await joinSigner();
  const before = (await findLog(rig.store, rig.places.logId ?? ""))?.checkpoint_size ?? 0;
  const tag = { userTagName: "Last", userIds: [] };
  assert.equal((await post("submit/create_user_tag", Buffer.from(rig.body("create_user_tag", tag)))).status, 200);
  await gateway.close();
  const head = (await rig.link.request("logState", {}))?.size ?? 0;
  const log = await findLog(rig.store, rig.places.logId ?? "");
  assert.ok(head > before);
  assert.equal(log?.checkpoint_size, head);
  assert.equal(readFileSync(checkpointFile, "utf8"), `${log?.checkpoint}\n`);
});

test("a signer that does not answer holds up a stop for a second and a half", async (t) => {
  const silent = (link: SignerLink): SignerLink => ({
    ...link,
    request: ((kind, message, turn) =>
      kind === "checkpoint"
        ? new Promise(() => undefined)
        : link.request(kind, message, turn)) as SignerLink["request"],
  });
  const { rig, gateway, post, join: joinSigner } = await start(t, { changed: silent });
  await joinSigner();
  const tag = { userTagName: "Last", userIds: [] };
  assert.equal((await post("submit/create_user_tag", Buffer.from(rig.body("create_user_tag", tag)))).status, 200);
  const begun = performance.now();
  await gateway.close();
  const tookMs = performance.now() - begun;
  assert.ok(tookMs > 1_400 && tookMs < 3_500, `${tookMs}`);
  assert.equal((await findLog(rig.store, rig.places.logId ?? ""))?.checkpoint_size, 0);
});

/** The bytes of a new tag, as many as they may be without being refused for that. */
function largeTag(rig: GatewayRig, userTagName: string, organizationId: string): Uint8Array<ArrayBuffer> {
  const body = Buffer.from(rig.body("create_user_tag", { userTagName, userIds: [] }, { organizationId }));
  return Buffer.from(`{"pad":"${"x".repeat(100_000)}",${body.toString().slice(1)}`);
}

test("large requests of one organization wait for none of another's, however long those take", async (t) => {
  let busyId = "";
  const { promise: freed, resolve: free } = Promise.withResolvers<void>();
  // What the busy organization asks of the signer is not answered before the end.
  const stuck = (link: SignerLink): SignerLink => ({
    ...link,
    request: (async (kind, message, turn) => {
      if (turn !== undefined && turn.organizationId === busyId) await freed;
      return link.request(kind, message, turn);
    }) as SignerLink["request"],
  });
  const { rig, post, stampOf, join } = await start(t, { changed: stuck });
  await join();
  const home = await rig.newSubOrganization(1, ["Ann"]);
  const [ann = rig.root] = home.people;
  busyId = rig.organizationId;
  const statuses: number[] = [];
  const flood = new AbortController();
  for (let i = 0; i < 18; i++) {
    const body = largeTag(rig, `Flood ${i}`, busyId);
    post("submit/create_user_tag", body, stampOf(body), { signal: flood.signal }).then(
      ({ status }) => statuses.push(status),
      () => undefined,
    );
  }
  // One is worked on, sixteen wait, and the last one is refused.
  while (statuses.length === 0) await pause(5);
  assert.deepEqual(statuses, [429]);
  for (const name of ["One", "Two"]) {
    const body = largeTag(rig, name, home.organizationId);
    const answer = await post("submit/create_user_tag", body, stampOf(body, ann));
    assert.equal(answer.status, 200, await answer.text());
  }
  assert.deepEqual(statuses, [429], "the others have waited all along");
  const refused = await post("submit/create_user_tag", largeTag(rig, "More", busyId));
  assert.equal(refused.status, 429);
  assert.equal((await refused.json()).message, "too many large requests at once; try again");
  flood.abort();
  free();
});

test("strangers' large requests do not keep out a member's, whoever they claim to be", async (t) => {
  const { rig, post, stampOf, join } = await start(t);
  await join();
  const home = await rig.newSubOrganization(1, ["Ann"]);
  const [ann = rig.root] = home.people;
  const stranger = { ...ann, privateKey: p256.utils.randomSecretKey() };
  const heard: Record<number, number> = {};
  let isOver = false;
  const junk = largeTag(rig, "Junk", home.organizationId);
  const stamps = [stampOf(junk, stranger), stampOf(Buffer.from("{}"), ann), "junk"];
  const flood = Array.from({ length: 40 }, async (_, index) => {
    while (!isOver) {
      const { status } = await post("submit/create_user_tag", junk, stamps[index % stamps.length]);
      heard[status] = (heard[status] ?? 0) + 1;
    }
  });
  while (!(429 in heard)) await pause(5);
  for (let i = 0; i < 5; i++) {
    const body = largeTag(rig, `Tag ${i}`, home.organizationId);
    const answer = await post("submit/create_user_tag", body, stampOf(body, ann));
    assert.equal(answer.status, 200, await answer.text());
  }
  isOver = true;
  await Promise.all(flood);
  assert.deepEqual(Object.keys(heard), ["401", "429"]);
});
