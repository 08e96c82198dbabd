import { suggest } from "@keystead/core/policy/language/suggest.ts";
import { type Command, type Flags, sessionFlags, UsageError } from "../command.ts";

const flagTexts: Readonly<Record<keyof Flags, readonly [string, string]>> = {
  profile: ["--profile FILE", "server address and key to use; default: bootstrap.json in KEYSTEAD_DATA, or in ./data"],
  url: ["--url URL", "another server than the profile's"],
  organization: ["--organization ID", "another organization than the profile's"],
  "api-key-file": [
    "--api-key-file FILE",
    "a file with the private key of a P-256 API key in hex, instead of the profile's",
  ],
  "idempotency-key": ["--idempotency-key K", "sent again under the same key within a day, it is the same activity"],
  "app-proofs": ["--app-proofs", "ask for app proofs of what becomes of the request"],
  yes: ["--yes", "change the organization without asking"],
  prune: ["--prune", "also delete policies that are in no FILE, so that both are equal"],
  check: ["--check", "change nothing; exit code 1 says that organization and files differ in any way"],
  strict: ["--strict", "warnings are errors"],
  "root-public-key": ["--root-public-key HEX", "the P-256 public key of the first user"],
  "old-key-saved": ["--old-key-saved", "you have a copy of the root key that is replaced; backups from before need it"],
  repair: ["--repair", "rebuild the rows that follow from others"],
  log: ["--log VKEY", "the verifier key of a log, as its operator published it; may be given several times"],
  port: ["--port N", "the port to listen on; 0 takes any free one"],
  host: ["--host HOST", "the address to listen on; default: 127.0.0.1"],
  data: ["--data DIR", "the folder of the witness's key and of what it cosigned last; default: ./keystead-witness"],
  key: ["--key VKEY", "the log's verifier key; default: logKey of the profile, or what the signer told beside it"],
  witness: ["--witness VKEY", "a witness that must have cosigned; repeat it for several"],
  root: ["--root FILE", "the attestation root that you have kept: a PEM file, or a saved /.well-known/keystead.json"],
  code: ["--code CLONE", "the folder of a clone of the release, after `npm ci` in it: its files are compared"],
  activity: ["--activity ID", "the activity that the app proofs must be of"],
  since: [
    "--since CHECKPOINT",
    "a file with one or more checkpoints that you have kept: the export must continue them",
  ],
  replay: ["--replay", "also execute every activity again, from the organization's first"],
  "sub-organizations": ["--sub-organizations", "those of the organization, too"],
  help: ["--help", "this text"],
  version: ["--version", "the version"],
};

/** Help knows all commands, itself included, so it gets them late. */
export function help(commands: () => ReadonlyMap<string, Command>): Command {
  return {
    usage: "help [COMMAND…]",
    summary: "show this text, or what a command takes",
    run({ args }) {
      if (args.length > 0) {
        console.log(commandHelp(commands(), args).join("\n"));
        return 0;
      }
      const rows = [...commands().values()].flatMap((command) => [...(command.subcommands?.values() ?? [command])]);
      console.log(`usage: npx keystead COMMAND [FLAGS]

${rows.map(usageLines).join("\n")}

npx keystead COMMAND --help shows more about a command, and npx keystead request NAME --help about an endpoint.
Flags of all commands that call a server:
${flagLines(sessionFlags).join("\n")}

accept-database, accept-clock, check-log, check-database and keys work on the data in KEYSTEAD_DATA, or in
./data: run them on that machine, with the server stopped (except for \`keys show\`).

Exit codes: 0 done, 1 failed or refused, 2 misused, 3 a check found something, 4 the activity waits for approvals.
log verify, proof verify and proof replay: 0 good, 1 bad, 2 misused, or something could not be checked.

Example:
  npx keystead request create_user_tag '{"userTagName":"ops","userIds":[]}'`);
      return 0;
    },
  };
}

/** A few usages are much longer than the others: their summary has a line of its own. */
const usageWidth = 47;

function usageLines({ usage, summary }: Command): string {
  const gap = usage.length > usageWidth ? `\n  ${" ".repeat(usageWidth)}` : " ".repeat(usageWidth - usage.length);
  return `  ${usage}${gap}  ${summary}`;
}

function flagLines(names: readonly (keyof Flags)[]): string[] {
  const rows = names.map((name) => flagTexts[name]);
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return rows.map(([flag, text]) => `  ${flag.padEnd(width)}  ${text}`);
}

function commandHelp(
  commands: ReadonlyMap<string, Command>,
  [name = "", ...rest]: readonly string[],
): readonly string[] {
  const command = commands.get(name);
  if (command === undefined)
    throw new UsageError(`there is no command \`${name}\`${suggest(name, [...commands.keys()])}`);
  const subcommand = command.subcommands?.get(rest[0] ?? "");
  const shown = subcommand === undefined ? [command] : [subcommand];
  const rows =
    subcommand === undefined && command.subcommands !== undefined ? [...command.subcommands.values()] : shown;
  const details = shown[0]?.details?.(rest) ?? [];
  if (details.length > 0) return details;
  const flags = rows.flatMap(({ flags: own = [] }) => own);
  return [
    ...rows.flatMap(({ usage, summary }) => [`usage: npx keystead ${usage}`, `  ${summary}`]),
    ...(flags.length === 0 ? [] : ["", "Flags:", ...flagLines([...new Set(flags)])]),
  ];
}
