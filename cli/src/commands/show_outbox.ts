/** The mailbox folder of a server without mail settings. It is read where the data is, and never over the network. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, refuseArguments, UsageError } from "../command.ts";
import { printable } from "../printable.ts";
import { codeOf } from "../profile.ts";

export const showOutbox: Command = {
  usage: "outbox [COUNT]",
  summary: "show the newest message, or the newest COUNT, of a server without mail settings",
  run(context) {
    refuseArguments(context, 1);
    const folder = join(process.env.KEYSTEAD_DATA || "data", "outbox");
    const messages = newestIn(folder, parseCount(context.args[0] ?? "1"));
    if (messages.length === 0) {
      console.log(`there is no message in ${folder}`);
      return 0;
    }
    console.log(messages.map(toText).join("\n\n"));
    return 0;
  },
};

function parseCount(text: string): number {
  const count = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(count)) throw new UsageError(`\`${text}\` is not how many messages to show`);
  return count;
}

type Message = Record<"channel" | "purpose" | "to" | "subject" | "text" | "code" | "createdAt", string>;

/** Names begin with the time in milliseconds, so they sort by it. */
function newestIn(folder: string, count: number): Message[] {
  const names = listed(folder).filter((name) => /^[0-9]+-[0-9a-f-]{36}\.json$/.test(name));
  const newest = names.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10)).slice(0, count);
  return newest.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Message);
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const code = codeOf(error);
    const hint =
      code === "EACCES"
        ? "it belongs to the courier: run this as root"
        : "set KEYSTEAD_DATA to the server's data folder";
    throw new Error(`cannot read ${folder} (${code}); ${hint}`);
  }
}

function toText({ channel, purpose, to, subject, text, code, createdAt }: Message): string {
  const head = [
    `${printable(createdAt)}  ${printable(channel)} to ${printable(to)}`,
    // A text message is sent without one.
    ...(channel === "email" ? [`subject: ${printable(subject)}`] : []),
    `${purpose === "login" || purpose === "recovery" ? "bundle" : "code"}: ${printable(code)}`,
  ];
  return [...head, "", ...text.trimEnd().split("\n").map(printable)].join("\n");
}
