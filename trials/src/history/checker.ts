/**
 * Decides whether one organization's history is linearizable: whether there is one order of all requests, each at a moment
 * between its sending and its answer, in which the model gives exactly the answers that were seen.
 *
 * The database offers an order: versions. It is not believed. Replaying the model along it must give every answer; a request that
 * was answered before another was sent must come before it; and what changed nothing (queries, refusals, repetitions) must fit a
 * state that was current while it was under way, no older than anything that was answered before it was sent.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type Credential,
  type Decision,
  type Denial,
  decide,
  denialOf,
  otherOrigin,
  type Parameters,
  type State,
  userOf,
} from "./model.ts";
import { takesPasskeys } from "./origins.ts";
import type { Answer, Commit, Operation, Seen, Try } from "./record.ts";
import { ask, isDenial, tellActivity } from "./views.ts";

export type History = {
  /** Version 1. */
  birth: State;
  operations: readonly Operation[];
  /** In the order of versions; those that changed none after the version they were decided on. */
  commits: readonly Commit[];
};

/** Something that happened at one moment within a span of time, on some version. */
type Point = {
  name(): string;
  fromMs: number;
  toMs: number;
  /** Known beforehand: that of a commit. */
  fixed?: { before: number; after: number };
  /** Whether this version could be the one. */
  fits?: (version: number, current: Current) => boolean;
};

/** The oldest and the newest version that were current while a request was under way. */
type Current = { oldest: number; newest: number };

const maxViolations = 10;

const stampOf = (body: string, { kind, id }: Credential) => `${body} ${kind} ${id}`;

/** Each violation is named by what it is, and says by which request. None: the history is linearizable. */
export function checkHistory({ birth, operations, commits }: History): string[] {
  const violations: string[] = [];
  const byStamp = new Map<string, Commit>();
  for (const commit of commits) {
    const stamp = stampOf(commit.stamped, commit.credential);
    const before = byStamp.get(stamp);
    if (before !== undefined) {
      violations.push(`executed twice: ${commit.event} of ${commit.activityId} at ${before.after} and ${commit.after}`);
    }
    byStamp.set(stamp, commit);
  }
  const groups = Map.groupBy(
    operations.filter(({ kind }) => kind === "submit"),
    ({ fingerprint, credential }) => stampOf(fingerprint, credential),
  );
  for (const [stamp, { event, activityId, after }] of byStamp) {
    if (!groups.has(stamp)) violations.push(`nobody asked for it: ${event} of ${activityId} at version ${after}`);
  }
  if (violations.length > 0) return violations;
  const replayed = replayModel(birth, commits, (commit) => groups.get(stampOf(commit.stamped, commit.credential))?.[0]);
  if (replayed.violation !== undefined) return [replayed.violation];
  const judge = createJudge(replayed.states, commits);
  const points = [
    ...effects(groups, byStamp),
    ...operations.flatMap((operation) => answers(operation, byStamp, judge)),
  ];
  return [...order(points, replayed.states.length - 1), ...changedValues(operations)].slice(0, maxViolations);
}

/** The states along the commits, by version. */
function replayModel(
  birth: State,
  commits: readonly Commit[],
  operationOf: (commit: Commit) => Operation | undefined,
): { states: State[]; violation?: string } {
  const states: State[] = [birth, birth];
  for (const commit of commits) {
    const name = `${commit.event} of ${commit.activityId} at version ${commit.after}`;
    const request = operationOf(commit);
    const state = states[commit.before];
    if (state === undefined || request === undefined)
      return { states, violation: `a version is missing before ${name}` };
    const kept = decide(state, request).find((decision) => decision.kind === "kept");
    if (kept?.kind !== "kept") {
      return {
        states,
        violation: `not allowed: ${name} (${request.name}); the model says ${explain(decide(state, request))}`,
      };
    }
    const changes = commit.after > commit.before;
    if (kept.event !== commit.event || kept.changes !== changes || !isSaid(kept.failure, commit.failure)) {
      const said = JSON.stringify(commit.failure ?? commit.result);
      return {
        states,
        violation: `another outcome: ${name} (${request.name}) is ${said}; the model says ${explain([kept])}`,
      };
    }
    if (!changes) continue;
    if (commit.after !== states.length)
      return { states, violation: `version ${states.length} is missing before ${name}` };
    states.push(kept.lead(commit));
  }
  return { states };
}

function isSaid(expected: Denial | undefined, said: { code: number; message: string } | undefined): boolean {
  if (expected === undefined || said === undefined) return expected === said;
  return expected.code === said.code && said.message.includes(expected.says);
}

function explain(decisions: readonly Decision[]): string {
  const words = decisions.map((decision) => {
    if (decision.kind === "denied") return `denied with ${decision.code} "${decision.says}"`;
    if (decision.kind === "shown") return "it changes nothing";
    return `${decision.event}${decision.failure ? ` with ${decision.failure.code} "${decision.failure.says}"` : ""}`;
  });
  return words.join(" or ");
}

/** When each commit took place: between the first sending of its bytes and the first answer that tells of it. */
function effects(groups: ReadonlyMap<string, Operation[]>, byStamp: ReadonlyMap<string, Commit>): Point[] {
  return [...byStamp].map(([stamp, commit]) => {
    const operations = groups.get(stamp) ?? [];
    const tries = operations.flatMap((operation) => operation.tries);
    const told = tries.filter(({ answer }) => answer !== undefined && tellsOf(answer, commit));
    return {
      name: () => operations[0]?.name ?? stamp,
      fromMs: Math.min(...tries.map(({ fromMs }) => fromMs)),
      toMs: Math.min(Number.POSITIVE_INFINITY, ...told.map(({ toMs }) => toMs)),
      fixed: { before: commit.before, after: commit.after },
    };
  });
}

/** Whether an answer could only be given once the commit was there. */
function tellsOf(answer: Answer, { failure, activityId }: Commit): boolean {
  if (answer.kind === "activity") return answer.activity.activityId === activityId;
  return answer.kind === "refusal" && answer.code === failure?.code && answer.message === failure.message;
}

type Judge = {
  /** Whether a submit could be answered so on this version, given what was committed of it, if anything. */
  submit(operation: Operation, answer: Answer, commit: Commit | undefined, version: number): boolean;
  query(operation: Operation, answer: Answer, version: number, current: Current): boolean;
};

function createJudge(states: readonly State[], commits: readonly Commit[]): Judge {
  /** What no state knows of: refused or failed at submission, and signatures. They are there from their version on. */
  const outside = new Map<string, Commit>();
  const results = new Map<string, unknown>();
  for (const commit of commits) {
    if (commit.before === commit.after) outside.set(commit.fingerprint, commit);
    if (commit.event === "COMPLETED") results.set(commit.activityId, comparable(commit.result));
  }
  const outsideById = new Map([...outside.values()].map((commit) => [commit.activityId, commit]));

  function isShown({ result, ...shown }: Seen, fingerprint: string, version: number): boolean {
    const single = outside.get(fingerprint);
    const activity = states[version]?.activities.get(fingerprint);
    if (single !== undefined) {
      if (version < single.after || !isOutside(shown, single)) return false;
    } else if (activity === undefined || !isDeepStrictEqual(shown, tellActivity(activity))) return false;
    const kept = results.get(shown.activityId);
    if (kept === bearerLogin) return shown.status !== "COMPLETED" || typeof result?.session === "string";
    return shown.status !== "COMPLETED" || isDeepStrictEqual(comparable(result), kept);
  }

  function isOutside(shown: Omit<Seen, "result">, { activityId, event }: Commit): boolean {
    return shown.activityId === activityId && shown.status === event && shown.votes.length === 1;
  }

  return {
    submit(operation, answer, commit, version) {
      const state = states[version];
      if (state === undefined) return false;
      if (answer.kind === "activity") {
        if (commit !== undefined)
          return version >= commit.after && isShown(answer.activity, commit.fingerprint, version);
        if (outside.has(operation.fingerprint)) return isShown(answer.activity, operation.fingerprint, version);
        return decide(state, operation).some(
          (decision) => decision.kind === "shown" && isShown(answer.activity, decision.fingerprint, version),
        );
      }
      if (answer.kind !== "refusal") return false;
      const stored = commit ?? outside.get(operation.fingerprint);
      if (stored !== undefined && version >= stored.after && tellsOf(answer, stored)) return true;
      const target = outside.get(String(operation.parameters.fingerprint).replace("sha256:", ""));
      if (target !== undefined && version >= target.after && answer.message.includes("takes no votes")) return true;
      return decide(state, operation).some((decision) => decision.kind === "denied" && isSaid(decision, answer));
    },
    query({ path, parameters, credential }, answer, version, { oldest, newest }) {
      const state = states[version];
      if (state === undefined) return false;
      const denial = denialOf(state, credential);
      if (denial !== undefined && answer.kind === "refusal" && isSaid(denial, answer)) return true;
      // Who asks is looked up before what it asks for, and may be deleted in between.
      const isKnown = (earlier: number) => userOf(states[earlier] ?? state, credential) !== undefined;
      const caller = firstFit(isKnown, oldest, version);
      if (caller === undefined) return false;
      if (credential.kind === "passkey") {
        // Then the origins are read, and then what is asked for; whoami shows what was found first.
        const isRefused = answer.kind === "refusal" && isSaid(otherOrigin, answer);
        if (isRefused) return !takesPasskeys(state);
        const isTaken = (later: number) => takesPasskeys(states[later] ?? state);
        if (firstFit(isTaken, caller, path === "whoami" ? newest : version) === undefined) return false;
      }
      if (path === "whoami" && !isKnown(version)) return false;
      const told = ask(state, path, parameters, userOf(states[caller] ?? state, credential) ?? "");
      if (answer.kind === "refusal") return isDenial(told) && isSaid(told, answer);
      if (answer.kind !== "view") return false;
      if (path !== "get_activity") return isDeepStrictEqual(answer.view, told);
      // A signature is written to its row a moment after it was released: until then readers see it pending.
      const shown = answer.view.status === "PENDING" ? { ...answer.view, status: "COMPLETED" } : answer.view;
      const single = outsideById.get(parameters.activityId);
      return single === undefined
        ? isDeepStrictEqual(shown, told)
        : version >= single.after && isOutside(shown, single);
    },
  };
}

/**
 * What rows and answers have in common: a row also has the public key of a session, and never a bearer value. Of a login by an identity
 * nothing is left: the row knows when its session ends, and the answer the session.
 */
function comparable(result: Parameters): Parameters {
  if (result?.sessionEndsAtMs !== undefined) return bearerLogin;
  if (result?.credentialBundle !== undefined) {
    const { publicKey: _, ...shown } = result;
    return shown;
  }
  if (result?.sessionExpiry === undefined) return result;
  const { leaf: _, session: __, ...shown } = result;
  return shown;
}

const bearerLogin = "a login whose session is in no row";

/** A bearer value is no state: all answers about one activity must tell whoever sent it the same. */
function changedValues(operations: readonly Operation[]): string[] {
  const values = new Map<string, string>();
  return operations.flatMap(({ name, path, tries }) =>
    tries.flatMap(({ answer }) => {
      if (answer?.kind !== "activity" || answer.activity.status !== "COMPLETED") return [];
      const { activityId, result } = answer.activity;
      if (path !== "oauth_login" && result?.sessionExpiry === undefined) return [];
      const first = values.get(activityId) ?? result.session;
      values.set(activityId, first);
      return first === result.session && first !== "" ? [] : [`another session: ${name}`];
    }),
  );
}

/** Every answer was given on some version that was current while its own request was under way. */
function answers(operation: Operation, byStamp: ReadonlyMap<string, Commit>, judge: Judge): Point[] {
  const commit = byStamp.get(stampOf(operation.fingerprint, operation.credential));
  return operation.tries.flatMap(({ fromMs, toMs, answer }: Try): Point[] => {
    if (answer === undefined) return [];
    const fits = (version: number, current: Current) =>
      operation.kind === "query"
        ? judge.query(operation, answer, version, current)
        : judge.submit(operation, answer, commit, version);
    return [{ name: () => `${operation.name} answered ${JSON.stringify(answer)}`, fromMs, toMs, fits }];
  });
}

/**
 * Puts all points in order. Each takes the oldest version it can: whatever comes after it is then bound the least, so that if
 * this order does not exist, none does.
 */
function order(points: readonly Point[], newest: number): string[] {
  const violations: string[] = [];
  const bySending = [...points].sort((a, b) => a.fromMs - b.fromMs);
  const ceilings = ceilingsOf(bySending);
  /** What was answered, in the order of answers: the newest version that each is after. */
  const answered: { toMs: number; after: number; name(): string }[] = [];
  let floor = { after: 1, name: () => "its birth" };
  let next = 0;
  for (const point of bySending) {
    // Everything that was answered before this was sent.
    answered.sort((a, b) => a.toMs - b.toMs);
    for (; (answered[next]?.toMs ?? Number.POSITIVE_INFINITY) < point.fromMs; next++) {
      const { after, name } = answered[next] as (typeof answered)[number];
      if (after > floor.after) floor = { after, name };
    }
    const { fixed, fits, name, toMs } = point;
    if (fixed !== undefined) {
      if (fixed.before < floor.after) {
        violations.push(
          `reordered: ${name()} led from version ${fixed.before}, but was sent after version ${floor.after} was answered to ${floor.name()}`,
        );
      }
      answered.push({ toMs, after: fixed.after, name });
      continue;
    }
    if (fits === undefined) continue;
    const ceiling = Math.min(newest, ceilings(toMs));
    const current = { oldest: floor.after, newest: ceiling };
    const version = firstFit((each) => fits(each, current), floor.after, ceiling);
    if (version === undefined) {
      violations.push(misfit(point, fits, floor, ceiling, newest));
      answered.push({ toMs, after: floor.after, name });
    } else answered.push({ toMs, after: version, name });
  }
  return violations;
}

function firstFit(fits: (version: number) => boolean, from: number, to: number): number | undefined {
  for (let version = from; version <= to; version++) if (fits(version)) return version;
  return undefined;
}

function misfit(
  { name }: Point,
  fits: NonNullable<Point["fits"]>,
  floor: { after: number; name(): string },
  ceiling: number,
  newest: number,
): string {
  const current = `versions ${floor.after} to ${ceiling} were current`;
  const older = firstFit((each) => fits(each, { oldest: each, newest: each }), 1, floor.after - 1);
  if (older !== undefined) {
    return `stale: ${name()} fits version ${older}, but ${current}: version ${floor.after} was answered to ${floor.name()} before it was sent`;
  }
  const newer = firstFit((each) => fits(each, { oldest: floor.after, newest: each }), ceiling + 1, newest);
  if (newer !== undefined) return `ahead of its time: ${name()} fits version ${newer}, but ${current}`;
  return `fits no state: ${name()}; ${current}`;
}

/** The newest version that can have been current at a time: one below the first commit that was only asked for later. */
function ceilingsOf(bySending: readonly Point[]): (timeMs: number) => number {
  const fixed = bySending.filter((point) => point.fixed !== undefined);
  const lowest: number[] = [];
  let low = Number.POSITIVE_INFINITY;
  for (const [index, point] of [...fixed.entries()].reverse()) {
    low = Math.min(low, point.fixed?.before ?? low);
    lowest[index] = low;
  }
  return (timeMs) => {
    let [from, to] = [0, fixed.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((fixed[middle]?.fromMs ?? 0) > timeMs) to = middle;
      else from = middle + 1;
    }
    return lowest[from] ?? Number.POSITIVE_INFINITY;
  };
}
