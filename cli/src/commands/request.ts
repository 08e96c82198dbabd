import { activities, type Client, KeysteadError, queries } from "@keystead/sdk";
import { type Command, type Flags, printJson, refuseArguments, sessionFlags, UsageError } from "../command.ts";
import { endpointLines, findEndpoint } from "../endpoint_fields.ts";
import { ExplainedRefusal } from "../explained_refusal.ts";
import { openPolicyWarnings } from "../open_policy_warnings.ts";
import { explainRefusal } from "../policy_refusal.ts";
import { openSession } from "../profile.ts";
import { type Waiting, waitingLines, waitsExitCode } from "../waiting.ts";

export const request: Command = {
  usage: "request NAME [JSON | -]",
  summary: "send one request: NAME from `npx keystead list` with its parameters, or /public/v1/… with a whole body",
  flags: [...sessionFlags, "idempotency-key", "app-proofs"],
  details: ([name]) => (name === undefined || name.startsWith("/") ? [] : endpointLines(findEndpoint(name))),
  async run(context) {
    refuseArguments(context, 2);
    const [name, json = "{}"] = context.args;
    if (name === undefined) throw new UsageError("request needs the name of an endpoint");
    const toRequest = requestTo(name, context.flags["app-proofs"]);
    const text = json === "-" ? await readStdin() : json;
    const parameters = parseParameters(text, name);
    const session = await openSession(context.flags);
    const { client, organizationId } = session;
    const { url, body } = toRequest({ text, parameters, organizationId });
    for (const line of await policyWarningsFor(client, url, body)) console.error(line);
    const idempotencyKey = context.flags["idempotency-key"];
    const send = () => explainRefusal(session, () => client.request(url, body, { idempotencyKey }));
    const answer = await pointToHelp(name, send);
    printJson(answer);
    // A query has done what it was asked for, whatever became of the activity it shows.
    return url.includes("/submit/") ? sayUnfinished(answer, client, context.flags) : 0;
  },
};

function policyWarningsFor(client: Client, url: string, body: unknown): Promise<string[]> {
  const { parameters } = (typeof body === "string" ? JSON.parse(body) : body) as { parameters?: object };
  return openPolicyWarnings(client, url.split("/").at(-1) ?? "", { ...parameters });
}

/** A body that does not fit its endpoint is refused with the first misfit; the help shows all that it takes. */
async function pointToHelp<T>(name: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const isMisfit = error instanceof KeysteadError && error.status === 400 && misfit.test(error.message);
    if (!isMisfit || name.startsWith("/")) throw error;
    throw new ExplainedRefusal(error, [`  ${helpFor(name)}`]);
  }
}

const misfit = /missing field `|field `[^`]*` (?:must|has|does) /;

function helpFor(name: string): string {
  return `npx keystead request ${name} --help shows what it takes`;
}

type Answered = { activity?: Waiting & { status: string; failure?: { message: string } } };

/** An activity that is not completed says so below its JSON. One that waits is no failure; one that ended otherwise is. */
async function sayUnfinished(answer: unknown, client: Client, flags: Flags): Promise<number> {
  const { activity } = answer as Answered;
  if (activity === undefined || activity.status === "ACTIVITY_STATUS_COMPLETED") return 0;
  if (activity.status === "ACTIVITY_STATUS_CONSENSUS_NEEDED") {
    for (const line of await waitingLines(client, activity, flags)) console.error(line);
    return waitsExitCode;
  }
  const why = activity.failure?.message ?? activity.status.replace("ACTIVITY_STATUS_", "").toLowerCase();
  console.error(`keystead: the activity was not done: ${why}`);
  return 1;
}

type Input = { text: string; parameters: object; organizationId: string };
type ToRequest = (input: Input) => { url: string; body: unknown };

/** `generateAppProofs`: as a field that is undefined, the flag is not in the body. */
function requestTo(name: string, generateAppProofs: boolean | undefined): ToRequest {
  // A whole body is sent as it was typed: its bytes decide what it is.
  if (name.startsWith("/")) return ({ text }) => ({ url: name, body: text });
  const known = findEndpoint(name);
  if (isKeyOf(activities, known)) {
    const { url, type } = activities[known];
    return ({ parameters, organizationId }) => ({
      url,
      body: { type, timestampMs: String(Date.now()), organizationId, parameters, generateAppProofs },
    });
  }
  const { url } = queries[known];
  return ({ parameters, organizationId }) => ({ url, body: { organizationId, ...parameters } });
}

function isKeyOf<T extends object, N extends string>(table: T, name: N): name is N & keyof T {
  return Object.hasOwn(table, name);
}

function parseParameters(text: string, name: string): object {
  const hint = name.startsWith("/") ? undefined : helpFor(name);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(
      `the parameters are not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("the parameters are not a JSON object", hint);
  }
  return value;
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
