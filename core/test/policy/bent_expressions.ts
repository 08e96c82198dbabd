/** Expressions that are nearly right: tokens lost, doubled, exchanged, and noise among the characters. */
import type { Chance } from "./seeded.ts";
import { keys, words } from "./shapes.ts";

const tokenForm = /[A-Za-z_][A-Za-z0-9_]*|[0-9]+|'[^']*'|"[^"]*"|\|\||&&|==|!=|<=|>=|\.\.|\s+|[\s\S]/g;

const spare = [
  ...["==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "!", ".", "..", ",", "(", ")", "[", "]"],
  ...[
    "true",
    "false",
    "0",
    "1",
    "100",
    "9".repeat(78),
    "9".repeat(79),
    "''",
    "'a'",
    '"0xab"',
    "'100'",
    "[]",
    "[1, 2]",
    "-1",
  ],
  ...[".count", ".count()", ".any(x, true)", ".all(x, x == 'a')", ".filter(x, x)", ".contains('a')", "[0]", "[0..1]"],
  ...[
    "x",
    "eth",
    "eth.tx",
    "eth.tx.to",
    "eth.tx.value",
    "activity",
    "activity.params",
    "activity.params.type",
    "wallet",
  ],
  ...["approvers", "approvers.count()", "credentials", "time.now", "Timestamp('2026-01-01T00:00:00Z')", "Timestamp"],
  ...[
    "CronSpan('* * * * *', '1h', 'UTC')",
    "CronSpan('0 9 * * 7', '8h', 'UTC')",
    "null",
    "//",
    "#",
    "+",
    "?",
    ":",
    "=",
    "&",
    "|",
  ],
  ...words.map((word) => `'${word}'`),
  ...keys.map((key) => `['${key}']`),
];
const noise = " \t\n\u000b\u00a0\ufeff\u0000'\"\\`{}()[]<>!=&|.,;:+-*/%^~?@#$_0123456789aAzZxEéß漢😀\ud800";

/** Tokens of one kind, which can stand for each other without the grammar noticing. */
const alike: readonly (readonly string[])[] = [
  ["==", "!=", "<", "<=", ">", ">=", "in"],
  ["&&", "||"],
  ["all", "any", "filter"],
  ["approvers", "credentials"],
  ["to", "from", "data", "id", "type", "label", "alias", "email", "address", "function_name", "user_id", "public_key"],
  ["value", "gas", "nonce", "chain_id", "amount", "gas_price", "gasPrice", "fee", "max_fee_per_gas"],
  ["imported", "exported", "true", "false"],
  ["0", "1", "2", "3", "7", "100", "'100'", "'7'", "'0'"],
];
const literals = [...words.map((word) => `'${word}'`), "0", "1", "true"];

/** The expression with a few changes, most often one. */
export function bent(source: string, other: string, chance: Chance): string {
  let text = source;
  for (let left = 1 + (chance.once(3) ? chance.below(4) : 0); left > 0; left--) {
    const kind = chance.below(4);
    text =
      kind === 0 ? withNoise(text, chance) : kind === 1 ? withTokens(text, other, chance) : withAlike(text, chance);
  }
  return text;
}

/** Mostly still an expression, and often a well-typed one. */
function withAlike(source: string, chance: Chance): string {
  const tokens: string[] = source.match(tokenForm) ?? [];
  const places = tokens.flatMap((token, at) => {
    const group = alike.find((others) => others.includes(token)) ?? (/^['"]/.test(token) ? literals : undefined);
    return group === undefined ? [] : [{ at, group }];
  });
  if (places.length === 0) return source;
  const { at, group } = chance.of(places);
  return tokens.with(at, chance.of(group)).join("");
}

function withTokens(source: string, other: string, chance: Chance): string {
  const tokens: string[] = source.match(tokenForm) ?? [];
  const at = chance.below(tokens.length + 1);
  const elsewhere = chance.below(tokens.length + 1);
  switch (chance.below(8)) {
    case 0:
      return tokens.toSpliced(at, 1 + chance.below(2)).join("");
    case 1:
      return tokens.toSpliced(at, 0, ...tokens.slice(at, at + 1 + chance.below(4))).join("");
    case 2: {
      const [a = "", b = ""] = [tokens[at], tokens[elsewhere]];
      return tokens.map((token, i) => (i === at ? b : i === elsewhere ? a : token)).join("");
    }
    case 3:
      return tokens.toSpliced(at, 0, chance.of(spare)).join("");
    case 4: {
      const others: string[] = other.match(tokenForm) ?? [""];
      return tokens.toSpliced(at, 1, chance.of(others)).join("");
    }
    case 5:
      return tokens.slice(0, at).join("") + other.slice(chance.below(other.length + 1));
    default:
      return tokens.toSpliced(at, 1, chance.of(spare)).join("");
  }
}

function withNoise(source: string, chance: Chance): string {
  const at = chance.below(source.length + 1);
  const letter = chance.once(4) ? "" : (noise[chance.below(noise.length)] ?? "");
  return source.slice(0, at) + letter + source.slice(at + chance.below(3));
}
