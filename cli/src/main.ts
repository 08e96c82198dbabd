#!/usr/bin/env node
/** The command line. Answers go to stdout, everything else to stderr; exit code 1 is a failure, 2 a misuse, 4 a wait. */
import { parseArgs } from "node:util";
import { suggest } from "@keystead/core/policy/language/suggest.ts";
import { type CommandContext, flags, UsageError } from "./command.ts";
import { commands } from "./commands.ts";
import { describeError, linesBelow } from "./describe_error.ts";

function parse(args: string[]): CommandContext & { name: string } {
  try {
    const { values, positionals } = parseArgs({ args, options: flags, allowPositionals: true });
    const [name = "help", ...rest] = positionals;
    if (values.help) return { name: "help", flags: values, args: name === "help" ? rest : positionals };
    return { name: values.version ? "version" : name, flags: values, args: rest };
  } catch (cause) {
    throw new UsageError(misuseOf(cause));
  }
}

/** Node's own words go on for lines. */
function misuseOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const unknown = /^Unknown option '([^']*)'/.exec(text)?.[1];
  return unknown === undefined ? (text.split("\n")[0] ?? text) : `unknown option \`${unknown}\``;
}

async function main(args: string[]): Promise<number> {
  const { name, ...context } = parse(args);
  const command = commands.get(name);
  if (command === undefined)
    throw new UsageError(`there is no command \`${name}\`${suggest(name, [...commands.keys()])}`);
  return command.run(context);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const said = describeError(error);
  const hint = error instanceof UsageError ? `${said.endsWith("?") ? "" : ";"} ${error.hint}` : "";
  console.error(`keystead: ${said}${hint}`);
  for (const line of linesBelow(error)) console.error(line);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
