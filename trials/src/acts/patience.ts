/** Requests that are sent again, byte for byte, until they are answered. */
import { setTimeout as pause } from "node:timers/promises";
import type { Fixture } from "@keystead/e2e/matrix/fixture.ts";
import type { Answer } from "@keystead/e2e/wire.ts";
import { patienceMs } from "../../../core/test/patience.ts";

/** What came instead of an answer, and how often. */
export type Waits = { cutOff: number; refused: number; unavailable: number };

const pauseMs = 25;

/** The first answer that is not "try again". An error inside the server is never an answer. */
export async function untilAnswered(send: () => Promise<Answer>, waits: Waits, what: string): Promise<Answer> {
  const startedMs = Date.now();
  for (;;) {
    const answer = await within(patienceMs, send(), what).catch((error: Error & { code?: string }) => error);
    if (answer instanceof Error) {
      if (answer instanceof Hang) throw answer;
      if (answer.code === "ECONNREFUSED") waits.refused += 1;
      else waits.cutOff += 1;
    } else if (answer.status === 503) {
      if (answer.json?.code !== 14) throw new Error(`a 503 with code ${answer.json?.code} to ${what}: ${answer.text}`);
      waits.unavailable += 1;
    } else if (answer.status >= 500 && answer.status !== 501) {
      throw new Error(`${answer.status} to ${what}: ${answer.text}`);
    } else return answer;
    if (Date.now() - startedMs > patienceMs) {
      throw new Error(
        `no answer within ${patienceMs} ms to ${what}; the last: ${answer instanceof Error ? answer : answer.text}`,
      );
    }
    await pause(pauseMs);
  }
}

class Hang extends Error {}

function within<T>(timeMs: number, work: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Hang(`no answer and no refusal within ${timeMs} ms to ${what}`)), timeMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The fixture, with every request of it sent until it is answered. */
export function patient(fixture: Fixture, waits: Waits): Fixture {
  const { send } = fixture;
  fixture.send = (sent) => untilAnswered(() => send(sent), waits, `${sent.path} ${JSON.stringify(sent.body)}`);
  return fixture;
}
