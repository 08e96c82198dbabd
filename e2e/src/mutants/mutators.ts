/** All mutators. One more is one more line in its own file. */
import type { Mutator } from "./draft.ts";
import { bodyMutators } from "./mutators/body.ts";
import { deliveryMutators, messageMutators } from "./mutators/delivery.ts";
import { framingMutators } from "./mutators/framing.ts";
import { headerMutators } from "./mutators/headers.ts";
import { lineMutators } from "./mutators/line.ts";
import { signatureMutators } from "./mutators/signature.ts";
import { stampMutators } from "./mutators/stamp.ts";
import { whoseMutators } from "./mutators/whose.ts";

export const mutators: readonly Mutator[] = [
  ...whoseMutators,
  ...bodyMutators,
  ...signatureMutators,
  ...stampMutators,
  ...headerMutators,
  ...lineMutators,
  ...framingMutators,
  ...messageMutators,
  ...deliveryMutators,
];
