/** Valid requests by people who may not, or may just so. */

import type { Random } from "../../../../core/test/seeded_random.ts";
import { createKey, schemeOf } from "../../key_pairs.ts";
import type { Person } from "../../world.ts";
import { type Draft, type Mutator, useKey } from "../draft.ts";

function by(name: string, choose: (draft: Draft, random: Random) => Person): Mutator {
  return { name, at: "whose", bend: (draft, random) => useKey(draft, choose(draft, random), random) };
}

export const whoseMutators: readonly Mutator[] = [
  by("by a member", ({ seed }) => seed.place.member),
  by("by a member with an expired key", ({ seed }) => seed.place.expired),
  by("by the parent's people", ({ seed: { places } }, { pick }) => pick([places.parent.root, places.parent.member])),
  by("by the sub-organization's people", ({ seed: { places } }, { pick }) =>
    pick([places.sub.root, places.sub.member]),
  ),
  by("by strangers", ({ seed: { places } }, { pick }) => pick([places.other.root, places.other.member])),
  {
    name: "by nobody's key",
    at: "whose",
    bend(draft, { pick }) {
      draft.key = createKey(pick(["API_KEY_CURVE_P256", "API_KEY_CURVE_SECP256K1", "API_KEY_CURVE_ED25519"]));
      draft.scheme = schemeOf[draft.key.curve];
    },
  },
];
