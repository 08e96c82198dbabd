/**
 * The states of each organization: every header follows one that is there, down to the birth. Order comes from the headers alone, because the
 * order of a log is that of releases, and several hosts have several logs.
 */
import type { LedTo, StateName } from "./check_leaf.ts";
import type { Finding, Place } from "./finding.ts";
import type { PlacedFacts } from "./walk_leaves.ts";

export type LinesInput = {
  /** Of all logs; one that stands in several is here several times. */
  leaves: readonly PlacedFacts[];
  /** Undisclosed leaves by organization, whose headers nobody can see. */
  erased: ReadonlyMap<string, number>;
  /** Entries that logs had and the export does not, of whichever organization: a database that was restored is older than its log. */
  lost: number;
  /** The organizations whose leaves are all here, as hex. */
  organizationIds: readonly string[];
};

type Link = LedTo & { place: Place };
/** Headers by version. After the operator accepted an older database, a version has two. */
type Line = Map<number, Link[]>;

export function checkLines({ leaves, erased, lost, organizationIds }: LinesInput): Finding[] {
  const lines = new Map<string, Line>(organizationIds.map((id) => [id, new Map()]));
  for (const { facts, place } of leaves) {
    const { ledTo } = facts;
    if (ledTo !== undefined && ledTo.organizationId === facts.organizationId) add(lines, { ...ledTo, place });
  }
  const acceptances = leaves.filter(({ facts }) => facts.leaf.event === "DATABASE_ACCEPTED").length;
  const findings = organizationIds.flatMap((id) =>
    checkLine(lines.get(id) ?? new Map(), { unshown: (erased.get(id) ?? 0) + lost, acceptances }),
  );
  if (findings.some(({ kind }) => kind === "bad")) return findings;
  return [...findings, ...checkNamedStates(leaves, lines)];
}

function add(lines: Map<string, Line>, link: Link): void {
  const line = lines.get(link.organizationId);
  if (line === undefined) return;
  const others = line.get(link.version) ?? [];
  if (!others.some(({ digest }) => digest === link.digest)) line.set(link.version, [...others, link]);
}

const noPrevious = "00".repeat(32);

function checkLine(line: Line, { unshown, acceptances }: { unshown: number; acceptances: number }): Finding[] {
  const findings: Finding[] = [];
  let [unseen, forks] = [unshown, 0];
  const versions = [...line.keys()].sort((a, b) => a - b);
  let last = 0;
  for (const version of versions) {
    const [first, ...others] = line.get(version) ?? [];
    if (first === undefined) continue;
    const parents = new Set((line.get(version - 1) ?? []).map(({ digest }) => digest));
    if (version === 1) parents.add(noPrevious);
    const gap = version - last - 1;
    last = version;
    const links = [first, ...others];
    const loose = gap > 0 ? first : links.find(({ previous }) => !parents.has(previous));
    if (loose !== undefined) {
      const missing = Math.max(gap, 1);
      const isUnseen = missing <= unseen;
      unseen -= missing;
      const what = isUnseen
        ? `undisclosed: ${missing} headers before version ${version}`
        : `the header of version ${version} follows none that is here: ${missing} before it are missing`;
      findings.push({ kind: isUnseen ? "unchecked" : "bad", place: loose.place, what });
      if (!isUnseen) return findings;
    }
    const branches = links.length - new Set(links.map(({ previous }) => previous)).size;
    const late = links.at(-1);
    if (branches === 0 || late === undefined) continue;
    forks += branches;
    const isAccepted = forks <= acceptances;
    const what = isAccepted
      ? `the operator accepted an older database: version ${version} is there twice`
      : `version ${version} is there twice, and both differ`;
    findings.push({ kind: isAccepted ? "note" : "bad", place: late.place, what });
    if (!isAccepted) return findings;
  }
  return findings;
}

/** A decision is on a state that the organization had, as far as its line is here. */
function checkNamedStates(leaves: readonly PlacedFacts[], lines: ReadonlyMap<string, Line>): Finding[] {
  const isKnown = ({ organizationId, version, digest }: StateName): boolean => {
    const links = lines.get(organizationId)?.get(version);
    return links === undefined || links.some((link) => link.digest === digest);
  };
  const found = leaves.find(({ facts }) => !facts.states.every(isKnown));
  if (found === undefined) return checkNewestStates(leaves, lines);
  return [{ kind: "bad", place: found.place, what: "it was decided on a state that the organization did not have" }];
}

/** Beyond the end of its own line: the header may be in another log, and newer than the statement about that. */
function checkNewestStates(leaves: readonly PlacedFacts[], lines: ReadonlyMap<string, Line>): Finding[] {
  const ends = new Map(Array.from(lines, ([id, line]) => [id, [...line.keys()].reduce((a, b) => Math.max(a, b), 0)]));
  for (const { facts, place } of leaves) {
    const end = ends.get(facts.organizationId) ?? Number.POSITIVE_INFINITY;
    const ahead = facts.states.find((state) => state.organizationId === facts.organizationId && state.version > end);
    if (ahead === undefined) continue;
    const what = `it was decided on version ${ahead.version}, whose header is not here`;
    return [{ kind: "unchecked", place, what }];
  }
  return [];
}
