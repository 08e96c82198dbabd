/**
 * A client that wants one page of its organization to grow: it chooses bodies until the ids that they would have had, were ids a hash
 * of the body alone, all begin alike, and it deletes the keys again. Every page stays below its bound. A sample here, 100,000 bodies with `npm run figures`, where the cost of one more change is
 * also compared with that in an organization that nobody attacks.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { samples } from "../../../../core/test/samples.ts";
import {
  activityBody,
  createSignerRig,
  offer,
  releaseRows,
  type SignerRig,
  stateAfter,
} from "../../../test/signer_rig.ts";
import type { Prepared, StoredRecord } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { objectId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";
import { keyFactsPageOf, maxFactsLength } from "../../state/pages.ts";
import { decodeRecord } from "../../state/records.ts";

const bodies = samples.chosenBodies;
const perRound = 100;

type Organization = { rig: SignerRig; state: SignerRig["born"] };

function found(): Organization {
  const rig = createSignerRig({ nowMs: Date.now() });
  return { rig, state: rig.born };
}

function act(organization: Organization, body: Uint8Array, records: readonly StoredRecord[] = []): Prepared {
  const { rig, state } = organization;
  // As the gateway does: pages of keys are brought when they are asked for.
  const kept = { ...state, pages: state.pages.filter(({ name }) => !name.startsWith("keyFacts/")) };
  let reply = offer(rig, kept, body, { records });
  if (reply.kind === "again") {
    const names = reply.value.flatMap((wish) => (wish.kind === "page" ? [wish.value.name] : []));
    const pages = state.pages.filter(({ name }) => names.includes(name));
    reply = offer(rig, kept, body, { records, pages });
  }
  if (reply.kind !== "prepared") throw new Error(`missing: ${JSON.stringify(reply.value)}`);
  const [own] = reply.value;
  assert.equal(own?.activity?.status, "ACTIVITY_STATUS_COMPLETED", own?.activity?.failure ?? "nothing");
  assert.deepEqual(
    releaseRows(rig, reply.value).map(({ kind }) => kind),
    ["released"],
  );
  organization.state = stateAfter(state, own as Prepared);
  return own as Prepared;
}

let names = 0;

function creation({ rig }: Organization): Uint8Array {
  const key = { curve: "CURVE_ED25519", privateKeyTags: [], addressFormats: [] };
  const privateKeys = [{ privateKeyName: `Key ${++names}`, ...key }];
  return activityBody(rig, "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", { privateKeys });
}

/** A body whose key would have fallen into page `00`. */
function chosen(organization: Organization): Uint8Array {
  const id = uuidToBytes(organization.rig.orders.birth.organizationId);
  for (;;) {
    const body = creation(organization);
    if (objectId(id, sha256(body), 0).startsWith("00")) return body;
  }
}

type Key = { id: string; record: StoredRecord };

function made({ records: [record] }: Prepared): Key {
  const content = decodeRecord(withoutMac(record?.content ?? new Uint8Array()));
  if (content.kind !== "privateKey" || record === undefined) throw new Error("no key was made");
  return { id: content.privateKeyId, record };
}

function remove(organization: Organization, keys: readonly Key[]): void {
  const asked = { privateKeyIds: keys.map(({ id }) => id), deleteWithoutExport: true };
  const body = activityBody(organization.rig, "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", asked);
  act(
    organization,
    body,
    keys.map(({ record }) => record),
  );
}

test("ids of keys whose bodies were chosen for one page spread over many", () => {
  const organization = found();
  const ids = Array.from({ length: 40 }, () => made(act(organization, chosen(organization))).id);
  const pages = new Set(ids.map(keyFactsPageOf));
  // Were ids the hash that the bodies are chosen by, there would be one page. By chance 40 ids fall into fewer than eight of the 256
  // pages with a probability below C(256, 7) · (7/256)^40 < 2^-160: it does not happen.
  assert.ok(pages.size >= 8, `40 keys lie in ${pages.size} pages: ${[...pages]}`);
});

/** The median of what one key costs, made and deleted, in microseconds of this process. */
function costOf(organization: Organization): number {
  const costs = Array.from({ length: 31 }, () => {
    const before = process.cpuUsage();
    const key = made(act(organization, creation(organization)));
    remove(organization, [key]);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return costs.sort((a, b) => a - b)[15] ?? 0;
}

test(`${bodies} chosen bodies: no page grows beyond its bound`, (t) => {
  const attacked = found();
  let longest = { name: "", length: 0 };
  for (let done = 0; done < bodies; done += perRound) {
    attacked.rig.clock.nowMs += 60_000;
    const keys = Array.from({ length: perRound }, () => made(act(attacked, chosen(attacked))));
    remove(attacked, keys);
    for (const { name, content } of attacked.state.pages) {
      if (content.length > longest.length) longest = { name, length: content.length };
    }
  }
  const bound = maxFactsLength.others;
  assert.ok(longest.length <= bound, `${longest.name} has ${longest.length} bytes`);
  for (const { name, content } of attacked.state.pages) {
    if (name.startsWith("keyFacts/")) assert.ok(content.length <= maxFactsLength.others, name);
  }
  const unattacked = found();
  costOf(unattacked);
  const [plain, dear] = [costOf(unattacked), costOf(attacked)];
  t.diagnostic(
    `${bodies} bodies: the longest page is ${longest.name} with ${longest.length} of ${bound} bytes; ` +
      `a key made and deleted costs the signer ${(dear / plain).toFixed(2)} times what it costs in an unattacked organization`,
  );
});
