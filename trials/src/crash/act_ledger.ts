/** What the oracle of acts and the test say to each other. */

import type { Json } from "@keystead/e2e/matrix/fixture.ts";
import type { Stage } from "@keystead/e2e/matrix/stage.ts";
import type { Waits } from "../acts/patience.ts";

export type ToActOracle =
  | { kind: "stages"; url: string; stages: readonly Stage[] }
  /** Make what an act needs. */
  | { kind: "begin"; act: string }
  /** Send it until it is answered; `twice` is from two senders at once. */
  | { kind: "go"; twice: boolean }
  /** Send it once more, compare, and look at its effect. */
  | { kind: "check" }
  /** So many clients do one act after the other, chosen by the seed. */
  | { kind: "load"; clients: number; seed: number }
  | { kind: "endLoad" }
  /** Send everything once more, look at every place, and report. */
  | { kind: "finish" };

export type FromActOracle =
  | { kind: "begun" }
  /** `isRefused`: what a killed process had could not be had again, and nothing was done. */
  | { kind: "answered"; isRefused: boolean }
  | { kind: "checked" }
  | { kind: "progress"; acknowledged: number; unavailable: number }
  | { kind: "ended" }
  | { kind: "report"; report: ActReport }
  | { kind: "violation"; what: string };

export type AcknowledgedAct = { act: string; organizationId: string; body: string; activity: Json };

export type ActReport = {
  acknowledged: AcknowledgedAct[];
  /** Acts that were refused because a killed process had what they needed. */
  refused: number;
  /** Repetitions that were compared with the first answer. */
  repeated: number;
  waits: Waits;
};
