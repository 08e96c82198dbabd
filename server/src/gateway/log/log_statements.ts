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
    try {
      return await signBeside(firstId, organizationId);
    } catch (error) {
      if (!isAboutRows(error)) throw error;
      throw new Fault(
        "unavailable",
        `the list of logs is not to be had: organization ${firstId} has changed rows; ${remedy}`,
      );
    }
  }

  async function signBeside(firstId: string, organizationId: string): Promise<StatementWithLogs> {
    let linksFrom: number | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const state = await loadPartOfState(store, firstId, "logs");
      if (state === undefined) break;
      const { version, header, directory, pages } = state;
      const links = linksFrom === undefined ? [] : await loadHeaders(store, firstId, linksFrom, version);
      const first = { header, directory, pages, links };
      const reply = await link.request("logStatement", { organizationId, first });
      if (reply.kind === "signed") return { statement: reply.value.note, logs: textOf(pages[0]?.content) };
      linksFrom = reply.value.linksFrom;
    }
    throw new Fault("unavailable", "the list of logs changes; try again");
  }

  return (organizationId: string) => limited(() => sign(organizationId));
}

const remedy = "stop the server and run `npx keystead check-database`";

/** Whether rows of the first organization were refused, or are too long to be shown, or have numbers that nobody can read. */
function isAboutRows(error: unknown): boolean {
  if (error instanceof Fault) return error instanceof FrameTooLong || error.code === "aborted";
  return error instanceof RangeError;
}

/** A page is JSON. */
function textOf(page: Uint8Array | undefined): string {
  return Buffer.from(page ?? []).toString();
}
