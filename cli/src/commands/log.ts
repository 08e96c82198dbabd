import { type Command, group, sessionFlags } from "../command.ts";

/** Loaded when they are run, like the commands of policies. */
const subcommands: Readonly<Record<string, Command>> = {
  export: {
    usage: "log export DIR [--sub-organizations] [--witness VKEY]…",
    summary: "write the organization's history to files that anybody can check",
    flags: [...sessionFlags, "sub-organizations", "witness"],
    run: async (context) => (await import("./log_export.ts")).logExport(context),
  },
  verify: {
    usage: "log verify DIR|FILE [--key VKEY] [--witness VKEY]… [--since CHECKPOINT] [--sub-organizations] [--replay]",
    summary: "check an export or a proof without a server; exit code 0 is good, 1 bad, 2 not all could be checked",
    flags: ["profile", "key", "witness", "since", "sub-organizations", "replay"],
    run: async (context) => (await import("./log_verify.ts")).logVerify(context),
  },
  prove: {
    usage: "log prove ACTIVITY_ID [--witness VKEY]…",
    summary: "write ACTIVITY_ID.tlog-proof: the activity's last leaf, and that it is in the log",
    flags: [...sessionFlags, "witness"],
    run: async (context) => (await import("./log_prove.ts")).logProve(context),
  },
};

export const log = group("log", new Map(Object.entries(subcommands)));
