/** The logs of a server: their list, checkpoints and tiles. Anybody can read them where they are public; else members are answered. */
import { fromBase64 } from "@keystead/core/encoding/base64.ts";
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
import { type Client, KeysteadError } from "@keystead/sdk";

/** Without an address where the log is private. */
export type PublishedLog = { logId: string; open: boolean; url: string | undefined };

/** A checkpoint with its text. It is not verified: whoever gets the export does that, with a key of their own. */
export type ReadCheckpoint = Checkpoint & { note: Note; text: string };

/** 1.6 GB. A server that names more has another reason for it. */
const mostEntries = 50_000_000;

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

export function openPublicLog(baseUrl: string, client: Client): PublicLog {
  const readFile = ({ logId, url }: PublishedLog, path: string) =>
    url === undefined ? askForFile(client, logId, path) : fetchFile(`${url}/${path}`);
  const readTile = async (log: PublishedLog, { level, n, width }: Tile): Promise<Uint8Array> => {
    const path = tilePath(level, n, width);
    const content = await readFile(log, path);
    if (content === undefined) throw new Error(`the server has no ${path} of log ${log.logId}`);
    return content;
  };
  return {
    async listLogs() {
      const { logs } = (await (await get(new URL("/.well-known/keystead.json", baseUrl).href)).json()) as {
        logs?: unknown;
      };
      if (!Array.isArray(logs) || logs.length === 0) throw new Error("the server has no log");
      return logs.map((log) => parsePublished(log as Record<string, unknown>, baseUrl));
    },
    async checkpoint(log) {
      const content = await readFile(log, "checkpoint");
      if (content === undefined) return undefined;
      const text = Buffer.from(content).toString();
      const note = parseNote(text);
      return { ...parseCheckpoint(note.text), note, text };
    },
    async entries(log, size) {
      if (size > mostEntries) throw new Error(`log ${log.logId} has ${size} entries, more than an export can have`);
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
  return { logId, open: open === true, url: typeof url === "string" ? new URL(url, baseUrl).href : undefined };
}

async function fetchFile(url: string): Promise<Uint8Array | undefined> {
  const response = await fetch(url);
  return response.status === 404 ? undefined : new Uint8Array(await accepted(response).arrayBuffer());
}

async function askForFile(client: Client, logId: string, path: string): Promise<Uint8Array | undefined> {
  try {
    return fromBase64((await client.getLogFile({ logId, path })).content);
  } catch (error) {
    if (error instanceof KeysteadError && error.status === 404) return undefined;
    throw error;
  }
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
