import { type Command, group, sessionFlags } from "../command.ts";

/** Loaded when they are run. */
const subcommands: Readonly<Record<string, Command>> = {
  fetch: {
    usage: "proof fetch ACTIVITY_ID",
    summary: "print an activity's app proofs with the boot proof of their key, for `proof verify`",
    flags: sessionFlags,
    run: async (context) => (await import("./proof_fetch.ts")).proofFetch(context),
  },
  verify: {
    usage: "proof verify FILE [--activity ID] [--root FILE] [--code CLONE]",
    summary:
      "check that app proofs are of one activity, their boot proof under a root that you have, and its files against a clone; exit code 1 if bad, 2 if unchecked",
    flags: ["activity", "root", "code", "profile"],
    run: async (context) => (await import("./proof_verify.ts")).proofVerify(context),
  },
  context: {
    usage: "proof context ACTIVITY_ID",
    summary: "print the proof of an activity's policy outcome, with all that was decided on, for `proof replay`",
    flags: sessionFlags,
    run: async (context) => (await import("./proof_context.ts")).proofContext(context),
  },
  replay: {
    usage: "proof replay FILE",
    summary:
      "decide a proven decision again, without a server; exit code 1 if the outcome differs, 2 if nobody can tell",
    run: async (context) => (await import("./proof_replay.ts")).proofReplay(context),
  },
};

export const proof = group("proof", new Map(Object.entries(subcommands)));
