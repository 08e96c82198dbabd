import { readFileSync } from "node:fs";
import { type Command, refuseArguments } from "../command.ts";

export const version: Command = {
  usage: "version",
  summary: "show the version",
  run(context) {
    if (!context.flags.version) refuseArguments(context, 0);
    console.log(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version);
    return 0;
  },
};
