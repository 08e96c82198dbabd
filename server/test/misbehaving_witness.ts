/** A server in the place of a witness that answers whatever a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type MisbehavingWitness = {
  url: string;
  /** The bodies that came, in this order. */
  readonly asked: string[];
  /** From now on requests are answered so. */
  answerWith(answer: (response: ServerResponse, body: string) => void): void;
};

export async function startMisbehavingWitness(t: TestContext): Promise<MisbehavingWitness> {
  const asked: string[] = [];
  let answer = (response: ServerResponse, _body: string): void => void response.writeHead(500).end();
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    asked.push(body);
    answer(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answerWith(next) {
      answer = next;
    },
  };
}
