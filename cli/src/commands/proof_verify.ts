/** Checks an app proof and the boot proof that it refers to, without a server. */

import { readFile } from "node:fs/promises";
import { type AppProof, verifyAppProof } from "@keystead/core/attestation/app_proof.ts";
import { readLoadedFiles } from "@keystead/core/attestation/loaded_files.ts";
import { nobleP384 } from "@keystead/core/attestation/noble_p384.ts";
import { verifyBootProof } from "@keystead/core/attestation/verify_boot_proof.ts";
import { bootProofFromWire } from "@keystead/core/attestation/wire_boot_proof.ts";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { sameBytes } from "@keystead/core/encoding/bytes.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";
import { printable } from "../printable.ts";
import { whyUnread } from "../profile.ts";
import { attestationRootOf } from "../proof/attestation_root.ts";
import { type Comparison, compareCode } from "../proof/compare_code.ts";
import { proofText } from "../proof/proof_text.ts";

const exitCodes = { good: 0, bad: 1, unchecked: 2 } as const;

export async function proofVerify(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [path] = context.args;
  if (path === undefined) throw new UsageError("proof verify needs a file, as `proof fetch` prints it");
  const { appProofs, bootProof } = await readProofs(path);
  const root = attestationRootOf(context.flags);
  try {
    const ephemeralKeys = appProofs.map((appProof) => verifyAppProof(nobleCurves, appProof));
    for (const { proofPayload } of appProofs) say(`app proof: its signature holds: ${proofText(proofPayload)}`);
    const { proof, loadedFiles } = bootProofFromWire(bootProof);
    if (!ephemeralKeys.every((key) => sameBytes(proof.ephemeralKey, key)))
      return bad("the app proof is of another start than the boot proof");
    if (root === undefined) return unchecked("no attestation root is at hand; pass --root FILE");
    const { kind, timestampMs } = verifyBootProof({ ...nobleP384, ...nobleCurves }, proof, loadedFiles, root);
    say(`boot proof: it leads to your root, and is of a start at ${new Date(timestampMs).toISOString()}`);
    say(`attestation: ${kind}. No hardware vouches for it: whoever has the root key can make one`);
    const files = readLoadedFiles(loadedFiles);
    say(`manifest: it names ${files.length} files`);
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

function reportCode(comparison: Comparison): number {
  if (comparison.kind === "differs") return bad(`${comparison.path}: ${comparison.why}`);
  if (comparison.kind === "unchecked") return unchecked(comparison.why);
  say(`code: all ${comparison.files} files and Node are those of the clone`);
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

async function readProofs(path: string): Promise<{ appProofs: AppProof[]; bootProof: unknown }> {
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
    const { appProof, appProofs = [appProof], bootProof } = JSON.parse(text);
    const fields = appProofs.flatMap((each: AppProof) => [
      ...[each.scheme, each.publicKey, each.proofPayload, each.signature],
    ]);
    const isWhole = fields.length > 0 && fields.every((field: unknown) => typeof field === "string");
    if (!isWhole || bootProof === undefined) throw wrong;
    return { appProofs, bootProof };
  } catch {
    throw wrong;
  }
}
