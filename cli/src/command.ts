export const flags = {
  profile: { type: "string" },
  url: { type: "string" },
  organization: { type: "string" },
  "api-key-file": { type: "string" },
  "root-public-key": { type: "string" },
  "idempotency-key": { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

export type Flags = { [K in keyof typeof flags]?: (typeof flags)[K]["type"] extends "boolean" ? boolean : string };

export type CommandContext = {
  flags: Flags;
  /** What stands after the command's name. */
  args: string[];
};

export type Command = {
  usage: string;
  summary: string;
  /** Resolves to the exit code. */
  run(context: CommandContext): number | Promise<number>;
};

/** The caller misused the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint = "see `keystead help`") {
    super(message);
    this.hint = hint;
  }
}

export function refuseArguments({ args }: CommandContext, most: number): void {
  if (args.length > most) throw new UsageError(`\`${args[most]}\` is one argument too many`);
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
