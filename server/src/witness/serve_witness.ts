/** The HTTP side of a witness: one path, bounded bodies and times. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Answer, addCheckpoint, type Witness } from "./add_checkpoint.ts";

/** A request has a proof of at most 63 hashes and a note of at most 64 signatures; this is twice that. */
const maxBodyBytes = 32 * 1024;
const path = "/add-checkpoint";

export function serveWitness(witness: Witness): Server {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    void answer(witness, request).then(
      (found) => respond(response, found),
      (error: unknown) => {
        // A disk that takes nothing: nothing was cosigned, and the log tries again.
        console.error(`cannot answer: ${error instanceof Error ? error.message : String(error)}`);
        respond(response, refusal(500, "the witness cannot answer now"));
      },
    );
  });
  server.maxConnections = 200;
  return server;
}

async function answer(witness: Witness, request: IncomingMessage): Promise<Answer> {
  if (request.url !== path) return refusal(404, "there is only /add-checkpoint");
  if (request.method !== "POST") return refusal(405, "use POST");
  const body = await readBody(request);
  if (body === undefined) return refusal(413, `a request has at most ${maxBodyBytes} bytes`);
  const text = decode(body);
  return text === undefined ? refusal(400, "the request is not UTF-8") : addCheckpoint(witness, text);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Ending the loop early must not end the connection: the refusal goes over it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refusal(status: number, text: string): Answer {
  return { status, contentType: "text/plain; charset=utf-8", body: `${text}\n` };
}

function respond(response: ServerResponse, { status, contentType, body }: Answer): void {
  // What is left of an unread body would be taken for the next request.
  const isUnread = status === 404 || status === 405 || status === 413;
  response.writeHead(status, { "content-type": contentType, ...(isUnread ? { connection: "close" } : {}) }).end(body);
}
