/** `keystead proof replay FILE`. Exit code 0: the rules say the same; 1: the proof is contradicted; 2: nobody can tell. */
import { readFileSync } from "node:fs";
import { activityProvenBy } from "@keystead/core/attestation/app_proof.ts";
import { Contradiction, decideAgain } from "./decide_again.ts";
import { CannotTell, parseProofFile } from "./proof_file.ts";

const [path = ""] = process.argv.slice(2);

try {
  const file = parseProofFile(readFileSync(path, "utf8"));
  const { outcome, activityId, fingerprint } = decideAgain(file);
  const how =
    activityProvenBy(file.appProof) === undefined ? " (its context says so; the proof itself names none)" : "";
  console.log(`activity: ${activityId}, fingerprint ${fingerprint}${how}`);
  console.log(`same: the rules say ${outcome} again`);
} catch (error) {
  process.exitCode = error instanceof Contradiction ? 1 : 2;
  const isOurs = error instanceof Contradiction || error instanceof CannotTell;
  const said = error instanceof Error ? error.message : String(error);
  console.log(
    `${process.exitCode === 1 ? "different" : "cannot tell"}: ${isOurs ? said : `the file cannot be read: ${said}`}`,
  );
}
