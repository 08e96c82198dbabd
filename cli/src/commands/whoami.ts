import { type Command, printJson, refuseArguments, sessionFlags } from "../command.ts";
import { openSession } from "../profile.ts";

export const whoami: Command = {
  usage: "whoami",
  summary: "show which user and organization the profile's key belongs to",
  flags: sessionFlags,
  async run(context) {
    refuseArguments(context, 0);
    const { client } = await openSession(context.flags);
    printJson(await client.whoami());
    return 0;
  },
};
