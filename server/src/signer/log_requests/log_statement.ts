/** The signed word on how many leaves of an organization the log has, and which logs there are. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { formatLogStatement } from "@keystead/core/log/statement.ts";
import type { Reply, Request } from "../../frames/messages.ts";
import { missingLinks, openDirectoryOf } from "../decision/offered_state.ts";
import type { Signer } from "../decision/signer.ts";
import { openLogOf } from "../log/next_log.ts";
import { requireName, signedNote } from "./checkpoint.ts";

export function signStatement(
  signer: Signer,
  firstOrganizationId: string,
  { organizationId, first }: Request<"logStatement">,
): Reply<"logStatement"> {
  const { memory } = signer;
  const timeMs = signer.now();
  const log = openLogOf(memory);
  // Of the pages it is enough that the directory names them: nothing is read of any.
  const state = openDirectoryOf(signer, firstOrganizationId, first);
  const linksFrom = missingLinks(signer, state, first.links);
  if (linksFrom !== undefined) return { kind: "again", value: { linksFrom } };
  const page = state.directory.pages.find(({ name }) => name === "logs");
  if (page === undefined || !log.isListed) throw new Fault("unavailable", "the signer's log is not listed yet");
  const text = formatLogStatement({
    organizationId,
    logId: toHex(log.logId),
    count: log.ordinals.last(uuidToBytes(organizationId)),
    size: log.size,
    timeMs,
    logs: toHex(page.digest),
  });
  requireName(memory);
  memory.sync();
  return { kind: "signed", value: { note: signedNote(signer, text) } };
}
