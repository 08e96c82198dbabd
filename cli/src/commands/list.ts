import { type Command, refuseArguments } from "../command.ts";
import { endpointLines, endpoints, findEndpoint } from "../endpoint_fields.ts";

export const list: Command = {
  usage: "list [NAME]",
  summary: "name every endpoint, or show what one takes",
  run(context) {
    refuseArguments(context, 1);
    const [name] = context.args;
    console.log((name === undefined ? allLines() : endpointLines(findEndpoint(name))).join("\n"));
    return 0;
  },
};

function allLines(): string[] {
  const rows = Object.entries(endpoints);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, { summary }]) => `${name.padEnd(width)}  ${summary}`),
    "",
    "npx keystead list NAME shows what it takes.",
  ];
}
