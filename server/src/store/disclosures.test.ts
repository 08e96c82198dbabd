import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, signing, stateChange } from "../../test/store_items.ts";
import { sha256 } from "../state/digest.ts";
import { commitGroup } from "./commit.ts";
import { findDisclosures } from "./disclosures.ts";

const digestOf = (content: Uint8Array) => toHex(sha256(content));

for (const dialect of dialects) {
  describe(`disclosures on ${dialect}`, () => {
    test("what a leaf names is found by its digest in its own organization, and the same bytes are kept once", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const [first, other] = [randomUUID(), randomUUID()];
      const [order, record] = [randomBytes(90), randomBytes(300)];
      const born = [
        { ...birth(first), disclosed: [order] },
        { ...birth(other), disclosed: [] },
      ];
      assert.deepEqual((await commitGroup(store, born, [])).committed, [true, true]);
      const later = [
        stateChange(first, 1, { disclosed: [record, order, record] }),
        signing(first, 2, { disclosed: [record] }),
      ];
      assert.deepEqual((await commitGroup(store, later, [])).committed, [true, true]);
      const digests = [order, record, randomBytes(5)].map(digestOf);
      const found = await findDisclosures(store, first, digests);
      assert.deepEqual(
        [...found].map(([digest, content]) => [digest, digestOf(content)]).sort(),
        [order, record].map((content) => [digestOf(content), digestOf(content)]).sort(),
      );
      assert.deepEqual([...(await findDisclosures(store, other, digests))], []);
      assert.deepEqual([...(await findDisclosures(store, first, []))], []);
    });

    test("what is not committed discloses nothing", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      await commitGroup(store, [birth(organizationId)], []);
      const content = randomBytes(50);
      const item = stateChange(organizationId, 7, { disclosed: [content] });
      assert.deepEqual((await commitGroup(store, [item], [])).committed, [false]);
      assert.deepEqual([...(await findDisclosures(store, organizationId, [digestOf(content)]))], []);
    });
  });
}
