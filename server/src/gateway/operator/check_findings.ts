import type { Report } from "./check_log.ts";

/** What a check of the database found. */
export type Findings = {
  /**
   * Notes a row that is not what the signer's bytes say, though it could be. True when it is to be made so now: the caller does
   * it, in the transaction that has found it.
   */
  differs(what: string): boolean;
  /** Notes what nothing in the database can bring back. */
  lost(what: string): void;
  /** Notes what is no difference, and what an operator may want to see to. */
  leaves(what: string): void;
  /** Notes that the head is not the one that is in force. Nothing is rebuilt from then on: what does not fit it may be what is right. */
  hold(what: string): void;
};

/** The findings of one organization or log, kept apart until its transaction has ended: one that is repeated finds everything anew. */
export type OrganizationFindings = Findings & { readonly noted: readonly Noted[] };

type Noted = { line: string; kind: "differs" | "rebuilt" | "lost" | "left" | "head" | "held" };

export function findingsOf(organizationId: string, rebuilds: boolean): OrganizationFindings {
  return findingsAbout(`organization ${organizationId}`, rebuilds);
}

/** Of what belongs to no organization. */
export function findingsOfLog(logId: string, rebuilds: boolean): OrganizationFindings {
  return findingsAbout(`log ${logId}`, rebuilds);
}

function findingsAbout(subject: string, rebuilds: boolean): OrganizationFindings {
  const noted: Noted[] = [];
  let isHeld = false;
  const note = (what: string, kind: Noted["kind"]) =>
    noted.push({ line: `${subject}: ${shortened(what)}${endings[kind]}`, kind });
  return {
    noted,
    differs(what) {
      if (isHeld) note(what, "held");
      else note(what, rebuilds ? "rebuilt" : "differs");
      return rebuilds && !isHeld;
    },
    lost: (what) => note(what, "lost"),
    leaves: (what) => note(what, "left"),
    hold(what) {
      isHeld = true;
      note(what, "head");
    },
  };
}

/** A name that somebody has made long must not hide what is wrong with it. */
function shortened(what: string): string {
  return what.replaceAll(/\S{100,}/gu, (name) => `${name.slice(0, 64)}…`);
}

const endings = {
  differs: "",
  rebuilt: "; rebuilt",
  lost: "; only a backup can bring it back",
  left: "",
  head:
    ". Nothing of it is rebuilt: put the right row back; if this state is to stay, run `npx keystead accept-database` and then " +
    "`npx keystead check-database --repair`; else only a backup can bring it back",
  held: "; it is not rebuilt under this head",
} as const satisfies Record<Noted["kind"], string>;

/** More than anybody reads, and few enough to be kept. The rest is counted. */
const maxLines = 5_000;

/** All findings of one command. */
export function createTally() {
  const lines: string[] = [];
  const counts = { differs: 0, rebuilt: 0, lost: 0, left: 0, head: 0, held: 0 };
  return {
    add({ noted }: OrganizationFindings): void {
      for (const { line, kind } of noted) {
        counts[kind] += 1;
        if (lines.length < maxLines) lines.push(line);
      }
    },
    report(organizations: number): Report {
      const { differs, rebuilt } = counts;
      const lost = counts.lost + counts.head + counts.held;
      const total = differs + rebuilt + lost + counts.left;
      const more = total > lines.length ? [`${total - lines.length} further findings are not listed`] : [];
      const hints = differs > 0 ? ["run `npx keystead check-database --repair` to rebuild what can be rebuilt"] : [];
      const parts = [
        `${organizations} organization(s) checked`,
        `${differs} row(s) to be rebuilt`,
        `${rebuilt} rebuilt`,
        `${lost} beyond rebuilding`,
      ];
      return { lines: [...lines, ...more, parts.join(", "), ...hints], ok: differs + lost === 0 };
    },
  };
}
