/** Random questions for a decision: a few people, what some of them approved, and policies about them and the activity. */
import { type Generator, randomExpression } from "./expressions.ts";
import type { NaivePolicy, NaiveQuestion, NaiveUser } from "./naive_decide.ts";
import type { Fields } from "./naive_evaluate.ts";
import type { Chance } from "./seeded.ts";
import { consensus } from "./shapes.ts";
import { type Known, randomMoment, type World } from "./worlds.ts";

const tags = ["T", "U"];
const credentialTypes = ["CREDENTIAL_TYPE_API_KEY_P256", "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"];

function randomUser(id: string, chance: Chance): NaiveUser {
  const credentials = Array.from({ length: 1 + chance.below(2) }, (_, i) => ({
    id: `${id}${i}`,
    type: chance.of(credentialTypes),
    credential_id: chance.once(2) ? "" : `passkey-${id}`,
    public_key: `key-${id}${i}`,
  }));
  const email = chance.once(3) ? "" : `${id}@example.com`;
  return { id, alias: `User ${id}`, email, tags: tags.filter(() => chance.once(2)), credentials };
}

/** What people write. */
const clauses = [
  "approvers.any(u, u.id == 'A')",
  "approvers.any(u, u.id == 'B')",
  "approvers.any(u, u.id == 'A' || u.id == 'C')",
  "approvers.all(u, u.id != 'D')",
  "approvers.any(u, u.tags.contains('T'))",
  "approvers.all(u, 'T' in u.tags)",
  "approvers.filter(u, u.tags.contains('T')).count() >= 2",
  "approvers.filter(u, u.tags.contains('U')).count() == 1",
  "approvers.filter(u, u.tags.any(t, t == 'T' || t == 'U')).count >= 3",
  "approvers.filter(u, u.tags.contains('T')).any(u, u.id in ['B', 'C'])",
  "approvers.count() >= 2",
  "approvers.count() == 2",
  "approvers.count() < 3",
  "credentials.count() >= 2",
  "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')",
  "credentials.all(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')",
  "credentials.filter(c, c.credential_id != '').count() >= 2",
  "credentials.any(c, c.public_key == 'key-B1')",
  "credentials.any(c, approvers.any(u, u.id == c.user_id && u.tags.contains('T')))",
  "approvers.any(u, credentials.any(c, c.user_id == u.id && c.id == 'C0'))",
  "approvers.any(u, approvers.count() >= 2 && u.id == 'A')",
  "approvers[0].id == 'A'",
  "approvers[1].tags.contains('U')",
  "approvers[0..1].any(u, u.email == 'A@example.com')",
  "credentials[0].user_id in ['A', 'B']",
  "approvers.any(approvers, approvers.tags.count() == 2)",
  "true",
  "false",
];

function randomConsensus(generator: Generator, starts: readonly Known[]): string {
  const { chance, bool } = generator;
  if (chance.once(6)) return "";
  if (chance.once(4)) return bool(starts, chance.below(3));
  const parts = Array.from({ length: 1 + chance.below(3) }, () => `${chance.once(6) ? "!" : ""}${chance.of(clauses)}`);
  const joined = parts.join(chance.once(3) ? " || " : " && ");
  return chance.once(6) ? `!(${joined})` : joined;
}

function randomCondition(generator: Generator, views: readonly World[]): string {
  const { chance } = generator;
  if (!chance.once(3))
    return chance.of(["", "true", "true", "activity.action != 'none'", "activity.kind in ['a', 'SIGN']"]);
  return randomExpression(generator, chance.of(views));
}

function randomTime(generator: Generator, now: Date): string {
  if (!generator.chance.once(3)) return "";
  return generator.bool([{ source: "time.now", shape: "time", value: now }], 0);
}

/** One to three views of one activity, up to five people and up to five policies. */
export function randomQuestion(generator: Generator, worlds: readonly World[]): NaiveQuestion {
  const { chance } = generator;
  const members = ["A", "B", "C", "D", "E"].slice(0, 1 + chance.below(5)).map((id) => randomUser(id, chance));
  const order = members.toSorted(() => chance.below(3) - 1);
  const approvals = order.slice(0, chance.once(8) ? 0 : 1 + chance.below(2)).map((user) => ({
    user,
    credential: chance.of(user.credentials),
  }));
  const now = randomMoment(chance);
  const views = Array.from({ length: chance.once(4) ? 1 + chance.below(3) : 1 }, () => chance.of(worlds));
  const names: Fields = {
    approvers: members.map(({ id, alias, email, tags: own }) => ({ id, alias, email, tags: own })),
    credentials: members.flatMap((user) => user.credentials.map((one) => ({ ...one, user_id: user.id }))),
  };
  const starts = Object.entries(consensus).map(([source, shape]) => ({ source, shape, value: names[source] }));
  const policies = Array.from(
    { length: 1 + chance.below(5) },
    (): NaivePolicy => ({
      effect: chance.once(6) ? "EFFECT_DENY" : "EFFECT_ALLOW",
      consensus: randomConsensus(generator, starts),
      condition: randomCondition(generator, views),
      time: randomTime(generator, now),
    }),
  );
  const [first] = approvals;
  const proposerId = first === undefined || chance.once(10) ? chance.of(["A", "B", "Z"]) : first.user.id;
  // Users may leave after they approved.
  return { policies, views, proposerId, approvals, members: members.filter(() => !chance.once(20)), now };
}
