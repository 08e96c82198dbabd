import { activities, queries } from "@keystead/sdk";
import { type Command, printJson, refuseArguments, UsageError } from "../command.ts";
import { openSession } from "../profile.ts";

export const request: Command = {
  usage: "request NAME [JSON | -]",
  summary: "send one request: NAME from `keystead list` with its parameters, or /public/v1/… with a whole body",
  async run(context) {
    refuseArguments(context, 2);
    const [name, json = "{}"] = context.args;
    if (name === undefined) throw new UsageError("request needs the name of an endpoint");
    const toRequest = findEndpoint(name);
    const text = json === "-" ? await readStdin() : json;
    const parameters = parseParameters(text);
    const { client, organizationId } = await openSession(context.flags);
    const { url, body } = toRequest({ text, parameters, organizationId });
    printJson(await client.request(url, body));
    return 0;
  },
};

type Input = { text: string; parameters: object; organizationId: string };
type ToRequest = (input: Input) => { url: string; body: unknown };

function findEndpoint(name: string): ToRequest {
  // A whole body is sent as it was typed: its bytes decide what it is.
  if (name.startsWith("/")) return ({ text }) => ({ url: name, body: text });
  if (isKeyOf(activities, name)) {
    const { url, type } = activities[name];
    return ({ parameters, organizationId }) => ({
      url,
      body: { type, timestampMs: String(Date.now()), organizationId, parameters },
    });
  }
  if (isKeyOf(queries, name)) {
    const { url } = queries[name];
    return ({ parameters, organizationId }) => ({ url, body: { organizationId, ...parameters } });
  }
  throw new UsageError(`there is no endpoint \`${name}\``, "`keystead list` names them all");
}

function isKeyOf<T extends object>(table: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name);
}

function parseParameters(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`the parameters are not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("the parameters are not a JSON object");
  }
  return value;
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
