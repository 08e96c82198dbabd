/** What was forked, executed, voted on or stamped before, offered once more. */
import { slotOf } from "../src/state/journal.ts";
import { stampEvidence } from "./evidence.ts";
import {
  type Attack,
  chunks,
  flip,
  forkOf,
  honest,
  links,
  newest,
  older,
  on,
  prepare,
  readPage,
  release,
  seenOf,
  withPages,
} from "./hostile_material.ts";
import { journalOf, offered } from "./hostile_run.ts";
import { shuffled } from "./seeded_random.ts";

export const historyAttacks = {
  "two states at one version": (aim) => {
    const { states, headers } = forkOf(aim);
    return states.slice(1, 2).map((state) => on(aim, aim.want(), offered(state, headers)));
  },
  "a longer fork that lacks what was released": (aim) => {
    const { states, headers } = forkOf(aim);
    return states.slice(1).map((state) => on(aim, aim.want(), offered(state, headers)));
  },
  "the release of a fork": (aim) => {
    const { rows, headers } = forkOf(aim);
    return [release(shuffled(rows, aim.random), headers), release(rows.slice(-1), headers)];
  },
  "a fork released among honest rows": (aim) => {
    const { rows, headers } = forkOf(aim);
    return [release(shuffled([...rows, ...seenOf(aim).rows.slice(-5)], aim.random), headers)];
  },
  "a request of the run once more": (aim) => {
    const { body, stamp } = aim.random.pick(aim.run.requests);
    return [prepare(aim.run.frame(body, stamp)), prepare({ ...aim.run.frame(body, stamp), state: undefined })];
  },
  "a request of the run with a journal that does not know it": (aim) => {
    const { body, stamp, organizationId } = aim.random.pick(aim.run.requests);
    const frame = aim.run.frame(body, stamp);
    const entries = frame.journal ?? new Uint8Array();
    const { timestampMs } = JSON.parse(Buffer.from(body).toString("utf8"));
    const others = [...aim.run.seen.values()].filter((seen) => seen.organizationId !== organizationId);
    return [
      undefined,
      new Uint8Array(),
      entries.subarray(32),
      entries.subarray(0, -32),
      Buffer.concat(shuffled(chunks(entries, 32), aim.random)),
      journalOf(aim.random.pick(others), slotOf(Number(timestampMs))),
      journalOf(seenOf(aim, organizationId), slotOf(Number(timestampMs)) - 1),
      flip(entries, aim.random),
    ].map((journal) => prepare({ ...frame, journal }));
  },
  "what was undone since, on the states around it": (aim) => {
    const { body, stamp } =
      aim.run.requests.find((request) => request.body === aim.run.targetOrganization.undone) ??
      aim.random.pick(aim.run.requests);
    const frame = aim.run.frame(body, stamp);
    return [older(aim), newest(aim)].flatMap((state) => [
      prepare({ ...frame, state: offered(state, links(aim)) }),
      prepare({ ...frame, state: offered(state, links(aim)), journal: new Uint8Array() }),
    ]);
  },
  "a vote with another body for its target": (aim) => {
    const want = aim.want("a second approval of what waits");
    const { targetOrganization, requests } = aim.run;
    const targets = [
      targetOrganization.rejected,
      targetOrganization.undone,
      flip(targetOrganization.waiting, aim.random),
      aim.random.pick(requests).body,
      want.body,
      undefined,
    ];
    return targets.map((target) => prepare({ ...honest(aim, want), target }));
  },
  "a vote on what was rejected, on the state before it was": (aim) => {
    const want = aim.want("an approval of what was rejected");
    const before = seenOf(aim).states.filter((state) => readPage(state, "pending")?.activities.length > 0);
    return before.flatMap((state) => {
      const pending = state.pages.find(({ name }) => name === "pending");
      return [
        on(aim, want, offered(state, links(aim))),
        on(
          aim,
          want,
          withPages(offered(newest(aim)), (page) => (page.name === "pending" ? (pending ?? page) : page)),
        ),
      ];
    });
  },
  "a stamp of another body, of another, or none": (aim) => {
    const [want, other] = [aim.want(), aim.want()];
    const stamps = [
      other.stamp,
      aim.random.pick(aim.run.requests).stamp,
      "",
      Buffer.from(flip(Buffer.from(want.stamp), aim.random)).toString("latin1"),
    ];
    return stamps.map((stamp) => prepare({ ...honest(aim, want), evidence: stampEvidence(stamp) }));
  },
  "a body that is bent under its stamp": (aim) => {
    const want = aim.want("a user whom a policy allows it signs");
    return [1, 2, 3].map(() => prepare({ ...honest(aim, want), body: flip(want.body, aim.random) }));
  },
  "a false time": (aim) => {
    const want = aim.want(aim.random.pick(["a request of two hours ago", "a request of ten minutes ahead"]));
    const journals = [honest(aim, want).journal, journalOf(seenOf(aim), slotOf(Date.now())), undefined];
    return journals.map((journal) => prepare({ ...honest(aim, want), journal }));
  },
  "a body of another organization on this one's state": (aim) => {
    const { body, stamp } = aim.random.pick(
      aim.run.requests.filter(({ organizationId }) => organizationId !== aim.run.targetOrganization.organizationId),
    );
    return [prepare({ ...aim.run.frame(body, stamp), state: offered(newest(aim)) })];
  },
} as const satisfies Record<string, Attack>;
