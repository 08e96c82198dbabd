/** The public log of a server, as anybody can read it: its list, checkpoints and tiles. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { isLogId } from "@keystead/core/log/log_name.ts";
import { type Checkpoint, parseCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { type Note, parseNote } from "@keystead/core/tlog/note.ts";
import {
  decodeEntries,
  newEntryTiles,
  type Tile,
  tileHashReader,
  tileOf,
  tilePath,
} from "@keystead/core/tlog/tiles.ts";
import { inclusionNodes, inclusionProof } from "@keystead/core/tlog/tree.ts";

export type PublishedLog = { logId: string; open: boolean; url: string };

/** A checkpoint with its text. It is not verified: whoever gets the export does that, with a key of their own. */
export type ReadCheckpoint = Checkpoint & { note: Note; text: string };

/** Tiles that are fetched at the same time. */
const atOnce = 8;

export type PublicLog = {
  listLogs(): Promise<PublishedLog[]>;
  /** Undefined where the server has none: of a log that has ended, it may be lost with a restored database. */
  checkpoint(log: PublishedLog): Promise<ReadCheckpoint | undefined>;
  /** All entries of a log of this size, one behind the other. */
  entries(log: PublishedLog, size: number): Promise<Uint8Array>;
  inclusionProof(log: PublishedLog, index: number, size: number): Promise<Uint8Array[]>;
};

export function openPublicLog(baseUrl: string): PublicLog {
  const readTile = async (log: PublishedLog, { level, n, width }: Tile): Promise<Uint8Array> =>
    new Uint8Array(await (await get(`${log.url}/${tilePath(level, n, width)}`)).arrayBuffer());
  return {
    async listLogs() {
      const { logs } = (await (await get(new URL("/.well-known/keystead.json", baseUrl).href)).json()) as {
        logs?: unknown;
      };
      if (!Array.isArray(logs) || logs.length === 0) throw new Error("the server has no log");
      return logs.map((log) => parsePublished(log as Record<string, unknown>, baseUrl));
    },
    async checkpoint(log) {
      const response = await fetch(`${log.url}/checkpoint`);
      if (response.status === 404) return undefined;
      const text = await accepted(response).text();
      const note = parseNote(text);
      return { ...parseCheckpoint(note.text), note, text };
    },
    async entries(log, size) {
      const parts = await inPortions(newEntryTiles(0, size), async (tile) => decodeEntries(await readTile(log, tile)));
      const entries = parts.flat();
      const isWhole = entries.length === size && entries.every(({ length }) => length === 32);
      if (!isWhole) throw new Error(`the server's log ${log.logId} does not have the entries of its checkpoint`);
      return Uint8Array.from(Buffer.concat(entries));
    },
    async inclusionProof(log, index, size) {
      const tiles = new Map(
        inclusionNodes(index, size).map((node) => {
          const tile = tileOf(node, size);
          return [tilePath(tile.level, tile.n, tile.width), tile] as const;
        }),
      );
      const read = new Map(
        await inPortions([...tiles], async ([path, tile]) => [path, await readTile(log, tile)] as const),
      );
      const reader = tileHashReader(size, ({ level, n, width }) => read.get(tilePath(level, n, width)) ?? fromHex(""));
      return inclusionProof(index, size, reader);
    },
  };
}

function parsePublished({ logId, url, open }: Record<string, unknown>, baseUrl: string): PublishedLog {
  if (typeof logId !== "string" || !isLogId(logId)) throw new Error("the server's list of logs is malformed");
  if (typeof url !== "string")
    throw new Error("the server keeps its log private (KEYSTEAD_LOG=private): ask its operator");
  return { logId, open: open === true, url: new URL(url, baseUrl).href };
}

async function get(url: string): Promise<Response> {
  return accepted(await fetch(url));
}

function accepted(response: Response): Response {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  return response;
}

async function inPortions<T, R>(list: readonly T[], each: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < list.length; at += atOnce) {
    results.push(...(await Promise.all(list.slice(at, at + atOnce).map(each))));
  }
  return results;
}
