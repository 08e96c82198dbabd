/** Who asks a query, for tests that run it directly. */
import type { Caller } from "../src/endpoints/define_query.ts";

export function testCaller(given: Partial<Caller> = {}): Caller {
  const { organizationId = "", organizationName = "", userId = "", userName = "" } = given;
  const { isStamped = true, hasRecoveryKey = false, subjectId = organizationId } = given;
  return { organizationId, organizationName, userId, userName, isStamped, hasRecoveryKey, subjectId };
}
