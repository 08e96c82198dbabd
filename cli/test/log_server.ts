/** A stand-in for a server with logs: it shows a test's deployment as the endpoints and routes of the log do. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { organizationPaths } from "@keystead/core/log/export/export_files.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { logVkey } from "@keystead/core/log/log_name.ts";
import { encodeEntries, parseTilePath, rootOfRow } from "@keystead/core/tlog/tiles.ts";
import { hashReaderOf, leafHash } from "@keystead/core/tlog/tree.ts";
import { encodeVkey } from "@keystead/core/tlog/vkey.ts";
import {
  entriesOf,
  exportOf,
  logsPage,
  ordinalsOf,
  signCheckpoint,
  type TestDeployment,
} from "../../core/test/log_export/test_export.ts";

export type LogServer = { url: string; requests: string[]; close(): void };

type Asked = { organizationId?: string; logId?: string; path?: string; paginationOptions?: { after?: string } };

/**
 * `pageLength` is how many leaves an answer has at most. A private log is shown to members alone. `children`: what it says are the
 * sub-organizations.
 */
export async function serveLogs(
  deployment: TestDeployment,
  {
    pageLength = 7,
    isPrivate = false,
    children = deployment.organizationIds.slice(1),
  }: { pageLength?: number; isPrivate?: boolean; children?: readonly string[] } = {},
): Promise<LogServer> {
  const files = exportOf(deployment);
  const [first = ""] = deployment.organizationIds;
  const requests: string[] = [];
  const answers: Record<string, (asked: Asked) => unknown> = {
    list_log_leaves: (asked) => ({ leaves: pageOf(deployment, asked, pageLength) }),
    get_log_statement({ organizationId = "", logId = "" }) {
      const statement =
        files.get(organizationPaths.statement(organizationId, logId)) ??
        files.get(organizationPaths.statement(first, logId));
      return {
        statement: Buffer.from(statement ?? []).toString(),
        logs: Buffer.from(logsPage(deployment.logs)).toString(),
      };
    },
    get_log_file({ logId = "", path = "" }) {
      const file = staticFile(deployment, `/log/${logId}/${path}`);
      return file && { content: Buffer.from(file).toString("base64") };
    },
    list_suborgs({ paginationOptions }) {
      return { organizationIds: paginationOptions?.after === undefined ? children : [] };
    },
  };
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    const query = answers[path.split("/query/")[1] ?? ""];
    if (query !== undefined) {
      response.setHeader("content-type", "application/json");
      const answer = query(JSON.parse(await bodyOf(request)) as Asked);
      response.statusCode = answer === undefined ? 404 : 200;
      response.end(JSON.stringify(answer ?? { code: 5, message: "not found", details: [] }));
      return;
    }
    const found =
      path === "/.well-known/keystead.json"
        ? JSON.stringify({ logs: published(deployment, isPrivate) })
        : isPrivate
          ? undefined
          : staticFile(deployment, path);
    response.statusCode = found === undefined ? 404 : 200;
    response.end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, close: () => server.close() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function published({ logs, deploymentId, key }: TestDeployment, isPrivate: boolean) {
  return logs.map(({ logId }) => {
    const { name } = logVkey(deploymentId, logId, key.publicKey);
    const url = isPrivate ? {} : { url: `/log/${logId}` };
    return { logId, origin: name, ...url, vkey: encodeVkey(name, key.publicKey), open: true };
  });
}

/** With a body that the leaf does not need: the activity that a vote is about. */
function pageOf({ logs }: TestDeployment, { organizationId, paginationOptions }: Asked, length: number) {
  const all = logs.flatMap((log) => {
    const ordinals = ordinalsOf(log);
    return log.leaves.flatMap((each, position) => {
      if (!each.isOperators && each.organizationId !== organizationId) return [];
      const leaf = Buffer.from(each.leaf).toString("base64");
      const { fingerprint } = decodeLeaf(each.leaf);
      const bodies = [Buffer.from(fingerprint), ...each.bodies]
        .toReversed()
        .map((body) => Buffer.from(body).toString("base64"));
      const ordinal = ordinals[position];
      return [{ logId: log.logId, position, ...(each.isOperators ? {} : { ordinal }), leaf, bodies }];
    });
  });
  const { after } = paginationOptions ?? {};
  const from = after === undefined ? 0 : all.findIndex(({ logId, position }) => `${logId}:${position}` === after) + 1;
  return all.slice(from, from + length);
}

function staticFile(deployment: TestDeployment, path: string): string | Uint8Array | undefined {
  const [, logId = "", rest = ""] = /^\/log\/([0-9a-f]{32})\/(.+)$/.exec(path) ?? [];
  const log = deployment.logs.find((each) => each.logId === logId);
  if (log === undefined) return undefined;
  const entries = entriesOf(log);
  if (rest === "checkpoint") return Buffer.from(signCheckpoint(deployment, logId, entries));
  const { level, n, width } = parseTilePath(rest);
  if (level === "entries") return encodeEntries(entries.slice(n * 256, n * 256 + width));
  const row = 256 ** level;
  const read = hashReaderOf(entries.map((entry) => leafHash(entry)));
  return Buffer.concat(
    Array.from({ length: width }, (_, index) => {
      const first = (n * 256 + index) * row;
      const leaves = Array.from({ length: row }, (_, at) => read(0, first + at));
      return rootOfRow(Buffer.concat(leaves));
    }),
  );
}

/** The flags of a user who asks it. */
export function flagsFor({ url }: LogServer, organizationId: string, folder: string): string[] {
  return ["--url", url, "--organization", organizationId, "--api-key-file", join(folder, "key.hex")];
}
