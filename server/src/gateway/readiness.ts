/** Why the service is not ready. Callers of `/readyz` are unknown, so the database and the signer are asked once a second at most. */
import { Fault } from "@keystead/core/fault.ts";
import type { Logger } from "pino";
import { findVersion } from "../store/organizations.ts";
import type { Store } from "../store/store.ts";
import type { SignerLink } from "./link/signer_link.ts";
import { sharedCheck } from "./shared_check.ts";
import { publicReason, type SignerStatus } from "./signer_status.ts";
import type { Committer } from "./submit/committer.ts";

const keptMs = 1_000;

/** As many leaves as the signer releases without a checkpoint. */
const maxUnsigned = 100_000;
const logIsFull =
  "the log cannot be stored: too many leaves wait for a checkpoint; the server's log says why none comes";

export type ReadinessDependencies = {
  store: Store;
  link: SignerLink;
  signer: SignerStatus;
  committer: Committer;
  log: Logger;
};

/** Undefined when it is ready. */
export function createReadiness(dependencies: ReadinessDependencies): () => Promise<string | undefined> {
  const { store, link, signer, committer, log } = dependencies;
  const check = sharedCheck(keptMs, async () => {
    try {
      // On the connections that activities use: whether there is such an organization does not matter.
      await findVersion(store, "");
    } catch {
      return "the database does not answer";
    }
    return signerObjection(link, log);
  });
  return async () => signer.trouble() ?? committer.trouble() ?? check();
}

/** Whether the signer would do anything now: releasing nothing takes all that a release takes, its clock included. */
async function signerObjection(link: SignerLink, log: Logger): Promise<string | undefined> {
  try {
    await link.request("release", { rows: [], links: [] });
    const log = await link.request("logState", {});
    return log !== undefined && log.size - log.checkpointSize >= maxUnsigned ? logIsFull : undefined;
  } catch (error) {
    if (!(error instanceof Fault)) log.error({ err: error }, "the signer did not answer as it should");
    return publicReason(error);
  }
}
