import type { Command } from "./command.ts";
import { generateKey } from "./commands/generate_key.ts";
import { help } from "./commands/help.ts";
import { list } from "./commands/list.ts";
import { log } from "./commands/log.ts";
import { policy } from "./commands/policy.ts";
import { proof } from "./commands/proof.ts";
import { request } from "./commands/request.ts";
import { acceptClock, acceptDatabase, checkDatabase, checkLog, init, keys } from "./commands/server_commands.ts";
import { showOutbox } from "./commands/show_outbox.ts";
import { version } from "./commands/version.ts";
import { whoami } from "./commands/whoami.ts";
import { witness } from "./commands/witness.ts";

/** In the order of the help text. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["whoami", whoami],
  ["request", request],
  ["list", list],
  ["policy", policy],
  ["log", log],
  ["proof", proof],
  ["generate-key", generateKey],
  ["init", init],
  ["accept-database", acceptDatabase],
  ["accept-clock", acceptClock],
  ["check-log", checkLog],
  ["check-database", checkDatabase],
  ["keys", keys],
  ["outbox", showOutbox],
  ["witness", witness],
  ["version", version],
  ["help", help(() => commands)],
]);
