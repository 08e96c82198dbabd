import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "./metrics.ts";

test("requests are counted by endpoint and status, and their times add up in the histogram", async () => {
  const metrics = createMetrics();
  for (const status of [200, 200, 401]) metrics.start("query", "whoami")(status);
  metrics.start("submit", "create_user_tag")(200);
  metrics.start("proxy", "otp_login")(429);
  const lines = (await metrics.text()).split("\n");
  for (const line of [
    "# TYPE keystead_requests_total counter",
    'keystead_requests_total{kind="query",path="whoami",status="200"} 2',
    'keystead_requests_total{kind="query",path="whoami",status="401"} 1',
    'keystead_requests_total{kind="submit",path="create_user_tag",status="200"} 1',
    'keystead_requests_total{kind="proxy",path="otp_login",status="429"} 1',
    'keystead_request_seconds_count{kind="proxy",path="otp_login"} 1',
    "# TYPE keystead_request_seconds histogram",
    'keystead_request_seconds_bucket{kind="query",path="whoami",le="5"} 3',
    'keystead_request_seconds_bucket{kind="query",path="whoami",le="+Inf"} 3',
    'keystead_request_seconds_count{kind="query",path="whoami"} 3',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(lines.some((line) => line.startsWith("process_cpu_user_seconds_total")));
});
