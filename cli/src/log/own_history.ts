/** What a server shows an organization of its own history: leaves with what they name, and the signer's statements. */
import { fromBase64 } from "@keystead/core/encoding/base64.ts";
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import type { LeafRecord } from "@keystead/core/log/export/leaf_record.ts";
import { pickBodies } from "@keystead/core/log/export/named_bodies.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { type LogStatement, parseLogStatement } from "@keystead/core/log/statement.ts";
import { parseNote } from "@keystead/core/tlog/note.ts";
import { type Client, KeysteadError, type ListLogLeavesResponse } from "@keystead/sdk";

type ShownLeaf = ListLogLeavesResponse["leaves"][number];

export type OwnLeaf = { logId: string; record: LeafRecord };

/** The signed note, what it says, and the list of logs that it names. */
export type ReadStatement = { note: string; statement: LogStatement; logs: string };

const pageLimit = "100";

/** Clocks differ, and a request may be repeated for a while. */
const oldestStatementMs = 10 * 60_000;

/** All leaves of an organization and all acts of the operator, log by log. */
export async function* listLeaves(client: Client, organizationId: string): AsyncGenerator<OwnLeaf> {
  for (let after: string | undefined; ; ) {
    const paginationOptions = { limit: pageLimit, ...(after !== undefined && { after }) };
    const { leaves } = await client.listLogLeaves({ organizationId, paginationOptions });
    const last = leaves.at(-1);
    if (last === undefined) return;
    yield* leaves.map(toOwnLeaf);
    after = `${last.logId}:${last.position}`;
  }
}

/** Bodies are put into the order of the export; a leaf that is not shown has none. */
function toOwnLeaf({ logId, position, ordinal, leaf: text, bodies }: ShownLeaf): OwnLeaf {
  const place = { position, ordinal: ordinal ?? 0 };
  if (text === "") return { logId, record: { ...place, leaf: undefined, bodies: [] } };
  const leaf = fromBase64(text);
  return { logId, record: { ...place, leaf, bodies: pickBodies(decodeLeaf(leaf), bodies.map(fromBase64)) } };
}

/** Each signer speaks for its own log: where the host that keeps it has ended or does not answer, the server says so. */
export async function readStatement(
  client: Client,
  organizationId: string,
  logId: string,
): Promise<ReadStatement | { missing: string }> {
  try {
    const { statement: note, logs } = await client.getLogStatement({ organizationId, logId });
    const statement = parseLogStatement(parseNote(note).text);
    refuseOld(statement);
    return { note, statement, logs };
  } catch (error) {
    if (!(error instanceof KeysteadError) || ![404, 503].includes(error.status)) throw error;
    return { missing: error.message };
  }
}

/** Whoever has kept a statement of yesterday could show what was there then, beside a checkpoint of today. */
function refuseOld({ logId, timeMs }: LogStatement): void {
  if (timeMs >= Date.now() - oldestStatementMs) return;
  throw new Error(
    `the server's newest statement about log ${logId} is of ${new Date(timeMs).toISOString()}: ` +
      "it shows an old history, or a clock is wrong",
  );
}

/** The ids of all sub-organizations. They become names of folders, so what is no id is refused; and one that comes again would never end. */
export async function listSubOrganizations(client: Client, organizationId: string): Promise<string[]> {
  const ids: string[] = [];
  const seen = new Set([organizationId.toLowerCase()]);
  for (;;) {
    const after = ids.at(-1);
    const paginationOptions = { limit: pageLimit, ...(after !== undefined && { after }) };
    const { organizationIds } = await client.listSuborgs({ paginationOptions });
    if (organizationIds.length === 0) return ids;
    for (const id of organizationIds) {
      if (!isUuid(id) || seen.has(id.toLowerCase())) {
        throw new Error("the server's list of sub-organizations is malformed");
      }
      seen.add(id.toLowerCase());
      ids.push(id);
    }
  }
}
