/** Checks an app proof and the boot proof that it refers to, without a server. */

import { readFile } from "node:fs/promises";
import {
  type AppProof,
  isActivity,
  type ProvenActivity,
  refuseMovedProof,
  verifyAppProof,
} from "@keystead/core/attestation/app_proof.ts";
import { readLoadedFiles } from "@keystead/core/attestation/loaded_files.ts";
import { readManifest } from "@keystead/core/attestation/manifest.ts";
import { nobleP384 } from "@keystead/core/attestation/noble_p384.ts";
import { verifyBootProof } from "@keystead/core/attestation/verify_boot_proof.ts";
import { bootProofFromWire } from "@keystead/core/attestation/wire_boot_proof.ts";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { sameBytes } from "@keystead/core/encoding/bytes.ts";
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type CommandContext, type Flags, refuseArguments, UsageError } from "../command.ts";
import { printable } from "../printable.ts";
import { whyUnread } from "../profile.ts";
import { activityNamedIn, namesNone } from "../proof/asked_activity.ts";
import { attestationRootOf } from "../proof/attestation_root.ts";
import { type Comparison, compareCode } from "../proof/compare_code.ts";
import { proofText } from "../proof/proof_text.ts";

const exitCodes = { good: 0, bad: 1, unchecked: 2 } as const;

export async function proofVerify(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [path] = context.args;
  if (path === undefined) throw new UsageError("proof verify needs a file, as `proof fetch` prints it");
  const { appProofs, bootProof, fetchedFor } = await readProofs(path);
  const asked = askedIn(context.flags);
  const root = attestationRootOf(context.flags);
  try {
    const ephemeralKeys = appProofs.map((appProof) => verifyAppProof(nobleCurves, appProof));
    for (const { proofPayload } of appProofs) say(`app proof: its signature holds: ${proofText(proofPayload)}`);
    const named = activityNamedIn(appProofs);
    if (named === undefined && asked !== undefined) return unchecked(namesNone);
    if (named !== undefined) {
      refuseMovedProof(named, fetchedFor ?? {});
      refuseMovedProof(named, asked ?? {});
    }
    say(`activity: ${named === undefined ? namesNone : `${named.activityId}, fingerprint ${named.fingerprint}`}`);
    const { proof, loadedFiles } = bootProofFromWire(bootProof);
    if (!ephemeralKeys.every((key) => sameBytes(proof.ephemeralKey, key)))
      return bad("the app proof is of another start than the boot proof");
    if (root === undefined) return unchecked("no attestation root is at hand; pass --root FILE");
    const { kind, timestampMs } = verifyBootProof({ ...nobleP384, ...nobleCurves }, proof, loadedFiles, root);
    say(`boot proof: it leads to your root, and is of a start at ${new Date(timestampMs).toISOString()}`);
    say(`attestation: ${kind}. No hardware vouches for it: whoever has the root key can make one`);
    const files = readLoadedFiles(loadedFiles);
    say(`manifest: it names ${files.length} files`);
    // An argument can have Node load code that is on no list.
    say(`arguments of Node, compared with nothing: ${readManifest(proof.manifest).args.join(" ")}`);
    if (context.flags.code === undefined) {
      say("code: not compared; pass --code CLONE, a clone of the release after `npm ci`");
      return exitCodes.good;
    }
    // Node warns of a function that every start relies on.
    process.removeAllListeners("warning");
    return reportCode(await compareCode(files, context.flags.code));
  } catch (error) {
    if (error instanceof Fault) return bad(error.message);
    throw error;
  }
}

function askedIn({ activity }: Flags): Partial<ProvenActivity> | undefined {
  if (activity === undefined) return undefined;
  if (!isUuid(activity)) throw new UsageError(`\`${activity}\` is not the id of an activity`);
  return { activityId: activity.toLowerCase() };
}

function reportCode(comparison: Comparison): number {
  if (comparison.kind === "differs") return bad(`${comparison.path}: ${comparison.why}`);
  if (comparison.kind === "unchecked") return unchecked(comparison.why);
  say(`code: the ${comparison.files} listed files and Node are those of the clone`);
  return exitCodes.good;
}

function bad(why: string): number {
  say(`bad: ${why}`);
  return exitCodes.bad;
}

function unchecked(why: string): number {
  say(`unchecked: ${why}`);
  return exitCodes.unchecked;
}

/** Paths and errors are the proof's own text. */
function say(line: string): void {
  console.log(printable(line));
}

type ProofsFile = {
  appProofs: AppProof[];
  bootProof: unknown;
  /** The activity that `proof fetch` was given. */
  fetchedFor: ProvenActivity | undefined;
};

async function readProofs(path: string): Promise<ProofsFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new Error(whyUnread(cause, "file", path));
  }
  const wrong = new Error(
    `${path} is not JSON of the form {appProofs: […], bootProof} or {appProof, bootProof}; \`proof fetch\` prints it`,
  );
  try {
    const { appProof, appProofs = [appProof], bootProof, activityId, fingerprint } = JSON.parse(text);
    const fields = appProofs.flatMap((each: AppProof) => [
      ...[each.scheme, each.publicKey, each.proofPayload, each.signature],
    ]);
    const isWhole = fields.length > 0 && fields.every((field: unknown) => typeof field === "string");
    if (!isWhole || bootProof === undefined) throw wrong;
    if (activityId === undefined && fingerprint === undefined) return { appProofs, bootProof, fetchedFor: undefined };
    const fetchedFor = { activityId, fingerprint };
    if (!isActivity(fetchedFor)) throw wrong;
    return { appProofs, bootProof, fetchedFor };
  } catch {
    throw wrong;
  }
}
