export const flags = {
  profile: { type: "string" },
  url: { type: "string" },
  organization: { type: "string" },
  "api-key-file": { type: "string" },
  "root-public-key": { type: "string" },
  "idempotency-key": { type: "string" },
  "app-proofs": { type: "boolean" },
  yes: { type: "boolean" },
  prune: { type: "boolean" },
  check: { type: "boolean" },
  strict: { type: "boolean" },
  "old-key-saved": { type: "boolean" },
  repair: { type: "boolean" },
  log: { type: "string", multiple: true },
  port: { type: "string" },
  host: { type: "string" },
  data: { type: "string" },
  key: { type: "string" },
  witness: { type: "string", multiple: true },
  since: { type: "string" },
  root: { type: "string" },
  code: { type: "string" },
  activity: { type: "string" },
  replay: { type: "boolean" },
  "sub-organizations": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

type ValueOf<F> = F extends { type: "boolean" } ? boolean : F extends { multiple: true } ? string[] : string;

export type Flags = { [K in keyof typeof flags]?: ValueOf<(typeof flags)[K]> };

/** Of everything that calls a server. */
export const sessionFlags = [
  "profile",
  "url",
  "organization",
  "api-key-file",
] as const satisfies readonly (keyof Flags)[];

export type CommandContext = {
  flags: Flags;
  /** What stands after the command's name. */
  args: string[];
};

export type Command = {
  usage: string;
  summary: string;
  /** Those that it takes, for its help. */
  flags?: readonly (keyof Flags)[];
  /** More for the command's own help, by the arguments behind it. */
  details?(args: readonly string[]): readonly string[];
  /** Resolves to the exit code. */
  run(context: CommandContext): number | Promise<number>;
  /** By the word after the command's name; help shows these instead of the command itself. */
  subcommands?: ReadonlyMap<string, Command>;
};

/** The caller misused the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint = "see `npx keystead help`") {
    super(message);
    this.hint = hint;
  }
}

export function refuseArguments({ args }: CommandContext, most: number): void {
  if (args.length > most) throw new UsageError(`\`${args[most]}\` is one argument too many`);
}

/** A command that only says which of several things to do. */
export function group(name: string, subcommands: ReadonlyMap<string, Command>): Command {
  const words = [...subcommands.keys()].join(", ");
  return {
    usage: `${name} ${[...subcommands.keys()].join("|")}`,
    summary: `one of ${words}`,
    subcommands,
    run({ flags, args: [word, ...args] }) {
      const subcommand = word === undefined ? undefined : subcommands.get(word);
      if (subcommand === undefined)
        throw new UsageError(`${name} can do one of these: ${words}`, `see \`npx keystead ${name} --help\``);
      return subcommand.run({ flags, args });
    },
  };
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
