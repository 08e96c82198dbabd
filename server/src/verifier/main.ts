/**
 * Checks an export of the log, or one proof file, which `keystead log verify` runs. It needs files and one key: no network, no server and no
 * database. It is no part of a server.
 */
import { readFileSync, statSync } from "node:fs";
import { parseArgs } from "node:util";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { organizationsIn } from "@keystead/core/log/export/export_files.ts";
import { type Report, toReport } from "@keystead/core/log/verify/finding.ts";
import { type LogKey, parseLogKey } from "@keystead/core/log/verify/log_key.ts";
import { createVerifier } from "@keystead/core/log/verify/verify_export.ts";
import { verifyProof } from "@keystead/core/log/verify/verify_proof.ts";
import { parseVkey, type Vkey } from "@keystead/core/tlog/vkey.ts";
import { nodeVerifierCurves } from "../curves/node_verifier_curves.ts";
import { keptCheckpoints } from "./kept_checkpoints.ts";
import { readExport } from "./read_export.ts";
import { exitCodes, reportLines, type Subject, timeText } from "./report_lines.ts";

const misuse = 2;

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      key: { type: "string", default: "" },
      witness: { type: "string", multiple: true, default: [] },
      since: { type: "string" },
      replay: { type: "boolean", default: false },
      "sub-organizations": { type: "boolean", default: false },
    },
  });
  const [path = ""] = positionals;
  const { "sub-organizations": withSubOrganizations } = values;
  const key = reading("--key", () => parseLogKey(values.key));
  const witnesses = values.witness.map((text) => reading(`--witness \`${text}\``, () => parseWitness(text)));
  if (!statSync(path).isDirectory()) {
    if (values.replay || values.since !== undefined || withSubOrganizations)
      throw new Misuse("--replay, --since and --sub-organizations take an export, not a proof");
    return checkProof(path, key, witnesses);
  }
  const since = values.since === undefined ? [] : keptCheckpoints(readFileSync(values.since, "utf8"));
  const files = readExport(path);
  const report = createVerifier(nodeVerifierCurves).verify(files, { key, witnesses, since, withSubOrganizations });
  // What is not the signer's need not be executed.
  const subject = { key, organizationIds: organizationsIn(files) };
  if (!values.replay || report.verdict === "bad") return say(report, subject);
  const { replayFiles } = await import("./replay_files.ts");
  const { findings, acts } = await replayFiles(files);
  console.log(`executed ${acts} ${acts === 1 ? "act" : "acts"} again`);
  return say({ ...report, ...toReport([...report.findings, ...findings], report.counts) }, subject);
}

function checkProof(path: string, key: LogKey, witnesses: readonly Vkey[]): number {
  const { leaf, ...report } = verifyProof(nodeVerifierCurves, readFileSync(path, "utf8"), { key, witnesses });
  if (leaf !== undefined) {
    const type = leaf.activityType.replaceAll(/[^A-Z0-9_]/g, "?");
    console.log(`${leaf.event} ${type}, grounds ${leaf.grounds}, at ${timeText(leaf.timeMs)}`);
    console.log(`activity ${uuidFromBytes(leaf.activityId)} of organization ${uuidFromBytes(leaf.organizationId)}`);
  }
  return say(report, { key, organizationIds: [] });
}

function say(report: Report, subject: Subject): number {
  console.log(reportLines(report, subject).join("\n"));
  return exitCodes[report.verdict];
}

function parseWitness(text: string): Vkey {
  const vkey = parseVkey(text);
  if (vkey.type !== 4) throw new Fault("invalid_argument", "that is the key of a log, not of a witness");
  return vkey;
}

/** Thrown for what the caller got wrong. */
class Misuse extends Error {}

function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) throw new Misuse(`${what}: ${error.message}`);
    throw error;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const isKnown = error instanceof Misuse || error instanceof Fault || "syscall" in error;
  if (!isKnown) throw error;
  console.error(`keystead: ${error.message}`);
  // A file that cannot be read says nothing about the history.
  process.exitCode = error instanceof Fault ? exitCodes.bad : misuse;
}
