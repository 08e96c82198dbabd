/**
 * One request to a witness. Its address is the operator's own word, so it may be inside the operator's network; a redirect is not followed. What it
 * answers may be anything, of any length, at any speed: time and bytes are bounded.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export type WitnessAnswer = { status: number; contentType: string; body: string };

/** A cosignature is a line of some 200 characters. */
const maxAnswerBytes = 16 * 1024;

export function postCheckpoint(
  url: string,
  body: string,
  deadlineMs: number,
  stop: AbortSignal,
): Promise<WitnessAnswer> {
  const address = new URL(`${url.replace(/\/$/, "")}/add-checkpoint`);
  const begin = address.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = begin(address, {
      method: "POST",
      agent: false,
      // From the look-up of the name until the whole answer has come.
      signal: AbortSignal.any([stop, AbortSignal.timeout(deadlineMs)]),
      headers: { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(body) },
    });
    request.on("error", reject);
    // An answer of 101 ends with neither an error nor a response.
    request.on("close", () => reject(new Error("it closed the connection")));
    request.on("response", (response) => {
      readAnswer(response).then(resolve, reject);
    });
    request.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<WitnessAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > maxAnswerBytes) throw new Error(`it answers more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = response;
  return { status, contentType: headers["content-type"] ?? "", body: Buffer.concat(chunks).toString("utf8") };
}
