/** Executes all organizations of a rig anew, from its rows alone. */
import { withLimits } from "../src/endpoints/limits.ts";
import type { Exported } from "../src/replay/exported.ts";
import { type ReplayReport, replayExport } from "../src/replay/replay_export.ts";
import { createSealer } from "../src/signer/secrets/seal.ts";
import { exportedRows } from "./exported_rows.ts";
import type { GatewayRig } from "./gateway_rig.ts";

/** With bodies whose bearer values have not ended: no test waits for that. */
export function exportOf({ store, signer }: GatewayRig, ids?: readonly string[]): Promise<Exported> {
  return exportedRows(store, createSealer(signer.rootKey, 1), ids);
}

/** Under the orders that the rig's signer was started with. */
export function replayWith({ signer: { orders } }: GatewayRig, exported: Exported): Promise<ReplayReport> {
  const { limits, linkingIssuers = [], ownIssuer } = orders;
  const { hasSandboxCodes = false, allowsPlainAnswers = false, hasCaptcha = false } = orders;
  return replayExport(exported, {
    orders: {
      limits: withLimits(limits),
      linkingIssuers: new Set(linkingIssuers),
      ownIssuer,
      hasSandboxCodes,
      allowsPlainAnswers,
      hasCaptcha,
    },
  });
}
