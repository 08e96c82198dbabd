import { activities, queries } from "@keystead/sdk";
import { type Command, refuseArguments } from "../command.ts";

export const list: Command = {
  usage: "list",
  summary: "name every endpoint with its parameters",
  run(context) {
    refuseArguments(context, 0);
    const rows = Object.entries({ ...activities, ...queries });
    const width = Math.max(...rows.map(([name]) => name.length));
    for (const [name, { summary, parameters }] of rows) {
      console.log(`${name.padEnd(width)}  ${summary}`);
      console.log(`${" ".repeat(width)}  { ${parameters.join(", ")} }`.replace("{  }", "{}"));
    }
    return 0;
  },
};
