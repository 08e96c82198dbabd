import {
  type Activity,
  type Api,
  activities,
  type CallOptions,
  type Completed,
  createApi,
  queries,
  version,
} from "./generated/api.ts";
import { errorFromActivity, errorFromAnswer } from "./keystead_error.ts";
import type { Stamper } from "./stamper.ts";

export type ClientOptions = {
  /** Where the server listens, for example `http://127.0.0.1:8080`. */
  baseUrl: string;
  /** The organization that calls act in unless they name another. */
  organizationId: string;
  stamper: Stamper;
  /** Instead of the platform's own, for tests and proxies. */
  fetch?: typeof globalThis.fetch;
};

export type RequestOptions = { signal?: AbortSignal | undefined; idempotencyKey?: string | undefined };

/**
 * One method per endpoint, and `request` for everything else. A method of an activity resolves when the activity is
 * completed; otherwise it rejects with a `KeysteadError` that carries the activity. Votes resolve with the activity they
 * were cast on, whatever its status.
 */
export type Client = Api & {
  /**
   * Sends one stamped POST and returns the parsed answer. A string is taken for JSON text and sent as it is, anything
   * else is serialised once; the stamp is over exactly the bytes that are sent.
   */
  request<T = unknown>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
};

const utf8 = new TextEncoder();

/** Connects to one server as one caller. Nothing is sent yet. */
export function createClient({ baseUrl, organizationId, stamper, fetch = globalThis.fetch }: ClientOptions): Client {
  const origin = baseUrl.replace(/\/+$/, "");

  /** `fetch` says only that it failed. The class stays its own; an abort is the caller's doing and stays as it is. */
  async function reach(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const hint = "if the server is not running, start it with `npm start`";
      throw new TypeError(`cannot reach ${origin}: ${reasonOf(error)}; ${hint}`, { cause: error.cause ?? error });
    }
  }

  async function request<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    const { signal, idempotencyKey } = options;
    const bytes = utf8.encode(typeof body === "string" ? body : JSON.stringify(body));
    const stamp = await stamper.stamp(bytes);
    const answer = await reach(origin + path, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "X-Client-Version": `@keystead/sdk@${version}`,
        [stamp.name]: stamp.value,
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      },
      body: bytes,
      // A stamped body is meant for this server; following it elsewhere would hand it to someone else.
      redirect: "error",
      ...(signal ? { signal } : {}),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw errorFromAnswer(answer.status, answer.statusText, text);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw errorFromAnswer(answer.status, "the answer is not JSON: is this a Keystead server?", text);
    }
  }

  const nextTimestampMs = createClock();
  const api = createApi({
    async submit<R>(path: keyof typeof activities, parameters: object, options: CallOptions = {}) {
      const { url, type, resultKey, parameters: fields } = activities[path];
      refuseMisplacedOrganization(path, parameters, fields);
      const body = {
        type,
        timestampMs: String(options.timestampMs ?? nextTimestampMs()),
        organizationId: options.organizationId ?? organizationId,
        parameters,
        // As a field that is undefined, the flag is not in the body.
        generateAppProofs: options.generateAppProofs,
      };
      const { activity } = await request<{ activity?: Activity }>(url, body, options);
      if (activity === undefined) throw errorFromAnswer(200, "the answer holds no activity", "");
      // A vote has no result of its own: it answers with the activity it was cast on, which may well go on waiting.
      if (resultKey === "") return { activity } as Completed<R>;
      if (activity.status !== "ACTIVITY_STATUS_COMPLETED") throw errorFromActivity(200, activity);
      return { activity, ...(activity.result[resultKey] as R) } satisfies Completed<R>;
    },
    async query<R>(path: keyof typeof queries, input: object, options: CallOptions = {}) {
      const named = "organizationId" in input ? input.organizationId : undefined;
      const body = { ...input, organizationId: options.organizationId ?? named ?? organizationId };
      return request<R>(queries[path].url, body, options);
    },
  });
  return { ...api, request };
}

/**
 * The server ignores parameters that it does not know, as newer clients may send some. An organization among them would be passed over,
 * and the activity would run in the client's own.
 */
function refuseMisplacedOrganization(path: string, parameters: object, fields: readonly string[]): void {
  if (!("organizationId" in parameters) || parameters.organizationId === undefined) return;
  if (fields.some((field) => /^organizationId\??:/.test(field))) return;
  throw new TypeError(
    `${path} has no parameter organizationId; name the organization in the second argument: { organizationId }`,
  );
}

/** The innermost reason. A host with several addresses has one for each, and the first says enough. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}

/** The time, moved on where needed: two equal calls in one millisecond would be one activity. */
function createClock(): () => number {
  let last = 0;
  return () => {
    last = Math.max(Date.now(), last + 1);
    return last;
  };
}
