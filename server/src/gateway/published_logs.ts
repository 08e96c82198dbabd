/** The deployment's logs as `/.well-known/keystead.json` lists them: what a reader needs to find each and to check it. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { encodeVkey } from "@keystead/core/tlog/vkey.ts";
import { listLogs } from "../store/public_log.ts";
import type { Store } from "../store/store.ts";
import type { PublishedLog } from "./routes/operator.ts";
import { sharedCheck } from "./shared_check.ts";

export type PublishedLogsDependencies = {
  store: Store;
  /** Where this gateway is reached. */
  baseUrl(): string;
  isPrivate: boolean;
  /** Of the deployment's log; undefined before a signer has joined. */
  logKey(): string | undefined;
};

/** Anybody may ask. */
const keptMs = 1_000;

export function createPublishedLogs(dependencies: PublishedLogsDependencies): () => Promise<readonly PublishedLog[]> {
  const { store, baseUrl, isPrivate, logKey } = dependencies;
  return sharedCheck(keptMs, async () => {
    const key = logKey();
    if (key === undefined) return [];
    return (await listLogs(store)).map(({ log_id: logId, origin, is_open }) => ({
      logId,
      origin,
      ...(!isPrivate && { url: `${baseUrl()}/log/${logId}` }),
      vkey: encodeVkey(origin, fromHex(key)),
      open: is_open === 1,
    }));
  });
}
