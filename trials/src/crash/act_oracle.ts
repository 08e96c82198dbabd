/**
 * The oracle of acts, a process of its own. It knows only the answers it received: it learns nothing of steps, kills, processes or the
 * database. What is not answered it sends again, byte for byte; an answer once given must come back unchanged for ever, and
 * whoever looks must see its effect once.
 */
import assert from "node:assert/strict";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { schemeOf } from "@keystead/e2e/key_pairs.ts";
import { createFixture, type Fixture, fingerprintOf, type Json } from "@keystead/e2e/matrix/fixture.ts";
import { type Look, look } from "@keystead/e2e/matrix/look.ts";
import type { Stage } from "@keystead/e2e/matrix/stage.ts";
import type { Traffic } from "@keystead/e2e/swagger/traffic.ts";
import { bytesOf, send } from "@keystead/e2e/wire.ts";
import { activityForms } from "@keystead/server/generated/activities.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import type { Act, ByProxy, Deed } from "../acts/act.ts";
import { actKinds, actNamed, catalogue } from "../acts/catalogue.ts";
import { patient, untilAnswered, type Waits } from "../acts/patience.ts";
import { proxyHeaders } from "../acts/sign_ups.ts";
import type { AcknowledgedAct, ActReport, FromActOracle, ToActOracle } from "./act_ledger.ts";

/** Held against the published document elsewhere. */
const unchecked: Traffic = {
  isChecked: false,
  counts: { requests: 0, answers: 0, refusals: 0 },
  note: () => undefined,
  faults: () => true,
};

/** Organizations get a history, and stay small enough to be looked at as a whole. */
const actsPerStage = 8;

/** A bearer value is given again until it ends. The shortest ones last for minutes; for so long it must be there. */
const bearerValueMs = 60_000;

/** What was sent, and the first answer to it. */
type Answered = {
  act: string;
  /** The organization it ran in. */
  placeId: string;
  body: string;
  answer: Json;
  atMs: number;
  ask(): Promise<Json>;
  byProxy?: ByProxy;
};

/** A body that names the parent finds its organization by the credential, which ends with that organization. */
function isLostWith(gone: ReadonlySet<string>, { placeId, body }: Answered): boolean {
  return gone.has(placeId) && JSON.parse(body).organizationId !== placeId;
}

class Refused {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** The first answer, without its bearer value if that has ended by now. */
function withEnded(first: Json, now: Json): Json {
  const form = activityForms.get(first.type);
  const { field = "", onlyForSameBytes } = form?.activity.bearer ?? {};
  if (form === undefined || onlyForSameBytes !== true || now.result[form.resultKey]?.[field] !== "") return first;
  return { ...first, result: { ...first.result, [form.resultKey]: { ...first.result[form.resultKey], [field]: "" } } };
}

function createPlay(url: string, stages: Stage[]) {
  const waits: Waits = { cutOff: 0, refused: 0, unavailable: 0 };
  const answered: Answered[] = [];
  const acknowledged: AcknowledgedAct[] = [];
  const places = new Map<string, { fixture: Fixture; last: Look }>();
  /** Organizations that were deleted. */
  const gone = new Set<string>();
  let repeated = 0;
  let refused = 0;

  async function repeat({ act, body, answer: first, atMs, ask }: Answered): Promise<void> {
    const answer = await ask();
    repeated += 1;
    const expected = Date.now() - atMs > bearerValueMs ? withEnded(first, answer) : first;
    assert.deepEqual(answer, expected, `another answer for ${act}: ${body}`);
  }

  /** Where it says why it could not be done, nobody finds anything of it. */
  async function checkNothingKept({ ask }: Fixture, { act, body }: Answered): Promise<void> {
    const { activities } = await ask("list_activities", { paginationOptions: { limit: "20" } });
    const fingerprint = fingerprintOf(body);
    assert.ok(
      !activities.some((each: Json) => each.fingerprint === fingerprint),
      `${act} was refused and is kept: ${body}`,
    );
  }

  /** What the place looks like from now on; one that has ended shows in its parent. */
  async function remember(act: Act, fixture: Fixture): Promise<void> {
    if (act.endsPlace === true) {
      places.delete(fixture.place.organizationId);
      gone.add(fixture.place.organizationId);
    }
    const shown = act.endsPlace === true ? { ...fixture, place: fixture.parent } : fixture;
    const last = await look(shown, shown.place);
    places.set(shown.place.organizationId, { fixture: shown, last });
    // A parent and its sub-organizations show the same ones, wherever an act or its beginning has made one.
    for (const [id, other] of places) {
      if (other.fixture.parent.organizationId !== fixture.parent.organizationId) continue;
      places.set(id, { ...other, last: { ...other.last, sessionProfiles: last.sessionProfiles } });
    }
  }

  /** One who acts: one act at a time, on stages of its own. */
  function createPlayer() {
    let stage: Stage | undefined;
    let acts = 0;
    let current: { act: Act; fixture: Fixture; deed: Deed; answered?: Answered } | undefined;

    function take(): Stage {
      if (stage === undefined || acts >= actsPerStage) {
        const next = stages.shift();
        // When all have been played on, it is their turn again.
        if (stage !== undefined) stages.push(stage);
        stage = next ?? stage;
        acts = 0;
      }
      if (stage === undefined) throw new Error("there are not enough stages");
      acts += 1;
      return stage;
    }

    /** Sends these very bytes, stamp and all, until they are answered. */
    function sender({ path, body, stamp, caller: { p256 }, byProxy, mayBeRefused }: Deed): () => Promise<Json> {
      const stamped = () =>
        [
          ["Content-Type", "application/json"],
          stamp ?? ["X-Stamp", signStamp(p256.privateKey, schemeOf[p256.curve], bytesOf(body))],
        ] as const;
      const message =
        byProxy === undefined
          ? { path: `/public/v1/submit/${path}`, headers: stamped(), body }
          : { path: `/v1/${path}`, headers: proxyHeaders(byProxy.configId), body };
      return async () => {
        const answer = await untilAnswered(() => send(url, message), waits, `${path} ${body}`);
        if (answer.status === 400 && mayBeRefused?.test(answer.json.message)) return new Refused(answer.json.message);
        assert.equal(answer.status, 200, `${path} ${body} was refused: ${answer.text}`);
        return byProxy === undefined ? answer.json.activity : answer.json;
      };
    }

    return {
      async begin(act: Act): Promise<void> {
        const played = take();
        const fixture = patient(createFixture(url, unchecked, played, played[act.at]), waits);
        current = { act, fixture, deed: await act.begin(fixture) };
      },
      /** Whether it was refused because a killed process had what it needed. */
      async go(twice: boolean): Promise<boolean> {
        assert.ok(current);
        const { act, deed, fixture } = current;
        const ask = sender(deed);
        const [answer, other] = await Promise.all([ask(), twice ? ask() : undefined]);
        const { body, byProxy } = deed;
        const placeId = fixture.place.organizationId;
        current.answered = { act: act.name, placeId, body, answer, atMs: Date.now(), ask, ...(byProxy && { byProxy }) };
        if (twice) assert.deepEqual(other, answer, `two answers for ${act.name}: ${deed.body}`);
        return answer instanceof Refused;
      },
      async check(): Promise<void> {
        assert.ok(current?.answered);
        const { act, fixture, deed, answered: own } = current;
        const { answer } = own;
        await repeat(own);
        if (answer instanceof Refused) {
          refused += 1;
          await checkNothingKept(fixture, own);
        } else {
          const activity = deed.byProxy === undefined ? answer : await deed.byProxy.activityOf(answer);
          acknowledged.push({
            act: act.name,
            organizationId: fixture.place.organizationId,
            body: deed.body,
            activity,
          });
          answered.push(own);
          await deed.check({ activity, answer });
        }
        await deed.tidy?.();
        await remember(act, fixture);
        if (act.endsPlace === true) stage = undefined;
      },
    };
  }

  return {
    progress: () => ({ acknowledged: acknowledged.length, unavailable: waits.unavailable }),
    createPlayer,
    async finish(): Promise<ActReport> {
      const repeatable = answered.filter((each) => !isLostWith(gone, each));
      for (const each of repeatable.filter(({ byProxy }) => byProxy === undefined)) await repeat(each);
      for (const { fixture, last } of places.values()) {
        assert.deepEqual(
          await look(fixture, fixture.place),
          last,
          `${fixture.place.organizationId} looks otherwise than it did last`,
        );
      }
      // After the looks: opening a proxy shows in them.
      for (const each of repeatable) {
        await each.byProxy?.reopen();
        if (each.byProxy !== undefined) await repeat(each);
      }
      return { acknowledged, refused, repeated, waits };
    },
  };
}

type Play = ReturnType<typeof createPlay>;
type Player = ReturnType<Play["createPlayer"]>;

function say(message: FromActOracle, whenSaid: () => void = () => undefined): void {
  process.send?.(message, whenSaid);
}

let play: Play | undefined;
let player: Player | undefined;
let loadEnds = false;
let load: Promise<unknown> = Promise.resolve();

async function runClient(own: Player, random: Random): Promise<void> {
  while (!loadEnds) {
    const acts: readonly Act[] = catalogue[random.pick(actKinds)];
    await own.begin(random.pick(acts));
    await own.go(random.next() < 0.1);
    await own.check();
  }
}

async function hear(message: ToActOracle): Promise<void> {
  if (message.kind === "stages") {
    play = createPlay(message.url, [...message.stages]);
    player = play.createPlayer();
    return;
  }
  if (play === undefined || player === undefined) throw new Error("no stages yet");
  const { progress, createPlayer } = play;
  if (message.kind === "begin") {
    await player.begin(actNamed(message.act));
    say({ kind: "begun" });
  } else if (message.kind === "go") {
    say({ kind: "answered", isRefused: await player.go(message.twice) });
  } else if (message.kind === "check") {
    await player.check();
    say({ kind: "checked" });
  } else if (message.kind === "load") {
    const clients = Array.from({ length: message.clients }, (_, n) =>
      runClient(createPlayer(), seededRandom(message.seed + n)),
    );
    load = Promise.all(clients).catch(violated);
    setInterval(() => say({ kind: "progress", ...progress() }), 50).unref();
  } else if (message.kind === "endLoad") {
    loadEnds = true;
    await load;
    say({ kind: "ended" });
  } else {
    say({ kind: "report", report: await play.finish() }, () => process.disconnect?.());
  }
}

function violated(error: unknown): void {
  say({ kind: "violation", what: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

process.on("message", (message: ToActOracle) => void hear(message).catch(violated));
