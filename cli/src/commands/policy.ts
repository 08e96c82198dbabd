import { type Command, group, sessionFlags } from "../command.ts";

/** Loaded when they are run: the engine behind them would double the time that every other command takes to start. */
const subcommands: Readonly<Record<string, Command>> = {
  check: {
    usage: "policy check FILE… [--strict]",
    summary: "show errors in policies, and likely mistakes",
    flags: ["strict"],
    run: async (context) => (await import("./policy_check.ts")).policyCheck(context),
  },
  test: {
    usage: "policy test FILE…",
    summary: "run test cases of policies, without a server",
    run: async (context) => (await import("./policy_test.ts")).policyTest(context),
  },
  explain: {
    usage: "policy explain ACTIVITY_ID",
    summary: "show what each policy decided about each vote on an activity, and why",
    flags: sessionFlags,
    run: async (context) => (await import("./policy_explain.ts")).policyExplain(context),
  },
  apply: {
    usage: "policy apply FILE… [--prune] [--yes | --check]",
    summary: "show how the organization's policies differ from the files', ask, and create and change them",
    flags: [...sessionFlags, "yes", "prune", "check"],
    run: async (context) => (await import("./policy_apply.ts")).policyApply(context),
  },
};

export const policy = group("policy", new Map(Object.entries(subcommands)));
