#!/usr/bin/env node
/** The command line. Answers go to stdout, everything else to stderr; exit code 1 is a failure, 2 a misuse. */
import { parseArgs } from "node:util";
import { type CommandContext, flags, UsageError } from "./command.ts";
import { commands } from "./commands.ts";
import { describeError } from "./describe_error.ts";

function parse(args: string[]): CommandContext & { name: string } {
  try {
    const { values, positionals } = parseArgs({ args, options: flags, allowPositionals: true });
    const [name = "help", ...rest] = positionals;
    return { name: values.help ? "help" : name, flags: values, args: rest };
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause));
  }
}

async function main(args: string[]): Promise<number> {
  const { name, ...context } = parse(args);
  const command = commands.get(name);
  if (command === undefined) throw new UsageError(`there is no command \`${name}\``);
  return command.run(context);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isMisuse = error instanceof UsageError;
  console.error(`keystead: ${describeError(error)}${isMisuse ? "; see `keystead help`" : ""}`);
  process.exitCode = isMisuse ? 2 : 1;
}
