/** Asks this host's signer how many leaves of an organization its log has. */
import { Fault } from "@keystead/core/fault.ts";
import { FrameTooLong } from "../../frames/frame.ts";
import { findFirstOrganization } from "../../store/across.ts";
import type { StatementWithLogs } from "../../store/log_statements.ts";
import { loadHeaders, loadPartOfState } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { createLimitedWork } from "../bounds/limited_work.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { LogPlaces } from "../places/log_places.ts";

export type LogStatementDependencies = {
  store: Store;
  link: Pick<SignerLink, "request">;
  places: Pick<LogPlaces, "logId">;
};

/** The first organization may be changed meanwhile. */
const maxAttempts = 5;

/**
 * For each statement the signer waits until its memory is on the disk, and meanwhile decides and releases nothing. So it is asked for one at a
 * time, with rests: a member who asks without end has a quarter of its time at most.
 */
const askLimits = { slots: 1, waiting: 256, refusal: "too many statements are asked for; try again", restTimes: 3 };

/** With the list of logs that the statement names by its digest. */
export function createOwnStatements({ store, link, places }: LogStatementDependencies) {
  const limited = createLimitedWork(askLimits);

  async function sign(organizationId: string): Promise<StatementWithLogs> {
    if (places.logId === undefined) throw new Fault("unavailable", "the signer has not joined yet");
    const firstId = await findFirstOrganization(store);
    if (firstId === undefined)
      throw new Fault("unavailable", "there is no first organization, whose page lists the logs");
    let linksFrom: number | undefined;
    let refusal: string | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      try {
        const state = await loadPartOfState(store, firstId, "logs");
        if (state === undefined) break;
        const { version, header, directory, pages } = state;
        const links = linksFrom === undefined ? [] : await loadHeaders(store, firstId, linksFrom, version);
        const first = { header, directory, pages, links };
        const reply = await link.request("logStatement", { organizationId, first });
        if (reply.kind === "signed") return { statement: reply.value.note, logs: textOf(pages[0]?.content) };
        linksFrom = reply.value.linksFrom;
      } catch (error) {
        refusal = aboutRows(firstId, error);
        if (refusal === undefined) throw error;
      }
    }
    const why =
      refusal === undefined ? "the list of logs changes; try again" : `the list of logs is not to be had: ${refusal}`;
    throw new Fault("unavailable", why);
  }

  return (organizationId: string) => limited(() => sign(organizationId));
}

/**
 * What is wrong with rows of the first organization; undefined for an error about anything else. Once, the signer may only have been
 * offered what another gateway has moved on from: its words count when it says so of what is read anew.
 */
function aboutRows(firstId: string, error: unknown): string | undefined {
  if (error instanceof Fault && error.code === "aborted") return error.message;
  const isUnreadable = (error as { code?: unknown }).code === "ERR_OUT_OF_RANGE";
  if (!isUnreadable && !(error instanceof FrameTooLong)) return undefined;
  return `organization ${firstId}: its rows are no rows of the signer's; stop the server and run \`npx keystead check-database\``;
}

/** A page is JSON. */
function textOf(page: Uint8Array | undefined): string {
  return Buffer.from(page ?? []).toString();
}
