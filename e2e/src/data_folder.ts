import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/**
 * A data folder that does not exist yet and goes with the test. It lies below one that others may pass, so that as root
 * gateway and signer run under their own uids.
 */
export function freshDataFolder(t: TestContext): string {
  const top = mkdtempSync(join(tmpdir(), "keystead-e2e-"));
  chmodSync(top, 0o711);
  t.after(() => rmSync(top, { recursive: true, force: true }));
  return join(top, "data");
}
