import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestStore } from "../../../test/open_test_store.ts";
import type { RouteRequest } from "../http/route.ts";
import { publicLogRoutes } from "./public_log.ts";

test("strangers who ask for the log by the thousand wait in a short line before the database, and the others are refused", async (t) => {
  const store = (await openTestStore(t, "sqlite")) ?? assert.fail();
  const [route] = publicLogRoutes({ store });
  const params = { logId: "ab".repeat(16), "*": "checkpoint" };
  const request = { method: "GET", url: "/log/ab/checkpoint", params } as unknown as RouteRequest;
  const asked = await Promise.allSettled(
    Array.from({ length: 2_000 }, async () => route?.handle(request, () => undefined)),
  );
  const codes = asked.map((each) => (each.status === "rejected" ? each.reason.code : "sent"));
  const counts = Object.fromEntries(
    Map.groupBy(codes, (code) => code)
      .entries()
      .map(([code, all]) => [code, all.length]),
  );
  assert.deepEqual(counts, { not_found: 260, resource_exhausted: 1_740 });
});
