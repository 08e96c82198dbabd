import type { Command } from "../command.ts";

/** Help knows all commands, itself included, so it gets them late. */
export function help(commands: () => ReadonlyMap<string, Command>): Command {
  return {
    usage: "help",
    summary: "show this text",
    run() {
      const rows = [...commands().values()].flatMap((command) => [...(command.subcommands?.values() ?? [command])]);
      const width = Math.max(...rows.map(({ usage }) => usage.length));
      console.log(`usage: keystead COMMAND [FLAGS]

${rows.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`).join("\n")}

Flags of whoami, request, policy explain and policy apply:
  --profile FILE       whom to call, as whom; default: bootstrap.json in KEYSTEAD_DATA, or in ./data
  --url URL            another server than the profile's
  --organization ID    another organization than the profile's
  --api-key-file FILE  a file with the private key of a P-256 API key in hex, instead of the profile's
  --idempotency-key K  of request: sent again under the same key within a day, it is the same activity
  --yes                of policy apply: change the organization without asking
  --prune              of policy apply: also delete policies that are in no FILE, so that both are equal
  --strict             of policy check: warnings are errors

accept-database, accept-clock, check-log and keys work on the data in KEYSTEAD_DATA, or in ./data:
run them on that machine, with the server stopped.

Example:
  keystead request create_user_tag '{"userTagName":"ops","userIds":[]}'`);
      return 0;
    },
  };
}
