/** An operator's gateway for text messages on loopback, which keeps what is posted to it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type ReceivedText = { id: string; to: string; text: string; token: string | undefined };

export type SmsGateway = { url: string; received: ReceivedText[] };

export async function startSmsGateway(t: Pick<TestContext, "after">): Promise<SmsGateway> {
  const received: ReceivedText[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received.push({ ...JSON.parse(Buffer.concat(parts).toString()), token: request.headers.authorization });
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`, received };
}
