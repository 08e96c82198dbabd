/** The deployment's logs as `/.well-known/keystead.json` lists them: what a reader needs to find each and to check it. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { encodeVkey } from "@keystead/core/tlog/vkey.ts";
import { listLogs } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { sharedCheck } from "../shared_check.ts";

/** `url` is left out while the operator keeps the log private; `open` is false once another log follows. */
export type PublishedLog = { logId: string; origin: string; url?: string; vkey: string; open: boolean };

export type PublishedLogsDependencies = {
  store: Store;
  /** Where this gateway is reached; undefined where it does not know. */
  publicUrl: string | undefined;
  isPrivate: boolean;
  /** Of the deployment's log; undefined before a signer has joined. */
  logKey(): string | undefined;
};

/** Anybody may ask. */
const keptMs = 1_000;

export function createPublishedLogs(dependencies: PublishedLogsDependencies): () => Promise<readonly PublishedLog[]> {
  const { store, publicUrl = "", isPrivate, logKey } = dependencies;
  return sharedCheck(keptMs, async () => {
    const key = logKey();
    if (key === undefined) return [];
    return (await listLogs(store)).map(({ log_id: logId, origin, is_open }) => ({
      logId,
      origin,
      ...(!isPrivate && { url: `${publicUrl}/log/${logId}` }),
      vkey: encodeVkey(origin, fromHex(key)),
      open: is_open === 1,
    }));
  });
}
