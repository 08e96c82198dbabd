/** States that are old, another's or edited, offered for a decision. */
import { slotOf } from "../src/state/journal.ts";
import {
  type Attack,
  edited,
  fitted,
  flip,
  honest,
  links,
  newest,
  older,
  on,
  prepare,
  seenOf,
  withPages,
} from "./hostile_material.ts";
import { journalOf, offered } from "./hostile_run.ts";
import { shuffled } from "./seeded_random.ts";

export const stateAttacks = {
  "an old state": (aim) => [on(aim, aim.want(), offered(older(aim)))],
  "an old state with the headers that led on from it": (aim) => [on(aim, aim.want(), offered(older(aim), links(aim)))],
  "an old state with the journal of its time": (aim) => {
    const [state, want] = [older(aim), aim.want()];
    const { timestampMs } = JSON.parse(Buffer.from(want.body).toString("utf8"));
    const seen = seenOf(aim);
    const rows = seen.rows.filter(({ next }) => next !== undefined && next.version <= state.version);
    return [on(aim, want, offered(state), { journal: journalOf({ ...seen, rows }, slotOf(Number(timestampMs))) })];
  },
  "an old page under the newest head": (aim) => {
    const old = older(aim);
    const want = aim.want();
    return newest(aim)
      .pages.filter((page) => !page.name.startsWith("keyFacts/"))
      .map(({ name }) =>
        on(
          aim,
          want,
          withPages(offered(newest(aim)), (page) => {
            return page.name === name
              ? (old.pages.find((each) => each.name === name) ?? { name, content: new Uint8Array() })
              : page;
          }),
        ),
      );
  },
  "old pages and their directory under the newest head": (aim) => {
    const { directory, pages } = offered(older(aim));
    return [on(aim, aim.want(), { ...offered(newest(aim)), directory, pages })];
  },
  "another organization's page in its place": (aim) => {
    const { neighbour, parentId } = aim.run;
    const theirs = newest(aim, aim.random.pick([neighbour.organizationId, parentId]));
    const want = aim.want();
    return theirs.pages.map(({ name, content }) =>
      on(
        aim,
        want,
        withPages(offered(newest(aim)), (page) => (page.name === name ? { name, content } : page)),
      ),
    );
  },
  "another organization's state": (aim) => {
    const { neighbour, parentId, ruinId } = aim.run;
    const theirs = newest(aim, aim.random.pick([neighbour.organizationId, parentId, ruinId]));
    return [
      on(aim, aim.want(), offered(theirs)),
      on(aim, aim.want(), { ...offered(newest(aim)), directory: theirs.directory }),
    ];
  },
  "a page left out": (aim) => {
    const want = aim.want();
    const state = offered(newest(aim));
    return state.pages.map(({ name }) =>
      on(aim, want, { ...state, pages: state.pages.filter((page) => page.name !== name) }),
    );
  },
  "a page edited": (aim) => {
    const want = aim.want();
    const state = offered(newest(aim));
    return state.pages.map(({ name }) => {
      const bent = withPages(state, (page) => (page.name === name ? edited(page, aim) : page));
      return on(aim, want, aim.random.pick([bent, fitted(bent)]));
    });
  },
  "a page twice, once edited": (aim) => {
    const state = offered(newest(aim));
    const page = edited(aim.random.pick(state.pages), aim);
    return [
      [page, ...state.pages],
      [...state.pages, page],
    ].map((pages) => on(aim, aim.want(), { ...state, pages }));
  },
  "pages under each other's names": (aim) => {
    const state = offered(newest(aim));
    const contents = shuffled(
      state.pages.map(({ content }) => content),
      aim.random,
    );
    const pages = state.pages.map(({ name }, index) => ({ name, content: contents[index] ?? new Uint8Array() }));
    return [on(aim, aim.want(), { ...state, pages })];
  },
  "a bit of the state": (aim) => {
    const state = offered(newest(aim));
    const which = aim.random.below(state.pages.length);
    const bent = state.pages.with(which, {
      name: state.pages[which]?.name ?? "",
      content: flip(state.pages[which]?.content ?? new Uint8Array(), aim.random),
    });
    return [
      on(aim, aim.want(), { ...state, header: flip(state.header, aim.random) }),
      on(aim, aim.want(), { ...state, directory: flip(state.directory, aim.random) }),
      on(aim, aim.want(), { ...state, pages: bent }),
    ];
  },
  "a head that is none: a leaf, a record, another's": (aim) => {
    const state = offered(newest(aim));
    const { rows, records } = seenOf(aim);
    const others = [aim.random.pick(rows).leaf, aim.random.pick(records).content, newest(aim, aim.run.parentId).header];
    return others.map((header) => on(aim, aim.want(), { ...state, header }));
  },
  "key facts that are old, edited, another's or missing": (aim) => {
    const want = aim.random.pick([
      aim.want("the same user signs with a wallet that was deleted"),
      aim.want("a user whom a policy allows it signs"),
    ]);
    const facts = newest(aim).pages.filter(({ name }) => name.startsWith("keyFacts/"));
    const before = older(aim).pages.filter(({ name }) => name.startsWith("keyFacts/"));
    const theirs = newest(aim, aim.run.neighbour.organizationId).pages.filter(({ name }) =>
      name.startsWith("keyFacts/"),
    );
    const renamed = theirs.map(({ content }, index) => ({ name: facts[index]?.name ?? "keyFacts/00", content }));
    const sets = [
      [],
      before,
      renamed,
      facts.map((page) => edited(page, aim)),
      [...facts.map((page) => edited(page, aim)), ...facts],
    ];
    return sets.map((pages) => prepare({ ...honest(aim, want), pages }));
  },
  "other pages among those that are asked for": (aim) => {
    const want = aim.want();
    const pages = [...older(aim).pages, ...newest(aim).pages.map((page) => edited(page, aim))];
    return [prepare({ ...honest(aim, want), pages })];
  },
} as const satisfies Record<string, Attack>;
