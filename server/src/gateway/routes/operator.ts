/** The operator's paths. Anybody may ask them, unstamped and as often as they like, so none may say or cost much. */

import type { PublicBoot } from "../../views/boot_proof_view.ts";
import { createSharedAnswer } from "../bounds/shared_answer.ts";
import type { Metrics } from "../http/metrics.ts";
import { type Content, jsonContent, type Route } from "../http/route.ts";

/** `url` is left out while the operator keeps the log private; `open` is false once another log follows. */
export type PublishedLog = { logId: string; origin: string; url?: string; vkey: string; open: boolean };

export type OperatorDependencies = {
  metrics: Metrics;
  /** Bytes that wait in the gateway, by the names of `memory_bounds.ts`. */
  heldBytes(): Readonly<Record<string, number>>;
  /** Why the service is not ready; undefined when it is. */
  unready(): Promise<string | undefined>;
  /** The deployment's public keys, for anyone to pin. */
  publicKeys(): Readonly<Record<string, string>>;
  /** The programs that boot proofs are of, and the root that vouches for them; undefined before a start was recorded. */
  boot(): PublicBoot | undefined;
  /** The deployment's logs, for anyone to follow. */
  logs(): Promise<readonly PublishedLog[]>;
};

/** Each takes the thread for a millisecond or more, and most of it is new every time. */
const restMs = 100;

export function operatorRoutes({ metrics, heldBytes, unready, publicKeys, boot, logs }: OperatorDependencies): Route[] {
  return [
    get("/healthz", () => jsonContent(200, { status: "alive" })),
    shared("/readyz", async () => {
      const why = await unready();
      return why === undefined ? jsonContent(200, { status: "ready" }) : jsonContent(503, { status: "not ready", why });
    }),
    shared("/metrics", async () => {
      const content = Buffer.from(await metrics.text(heldBytes()));
      return { kind: "content", status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", content };
    }),
    shared("/.well-known/keystead.json", async () =>
      jsonContent(200, { publicKeys: publicKeys(), logs: await logs(), ...boot() }),
    ),
  ];
}

function shared(path: string, answer: () => Promise<Content>): Route {
  return get(path, createSharedAnswer(answer, restMs));
}

function get(path: string, answer: () => Promise<Content> | Content): Route {
  return { method: "GET", path, limits: { bodyBytes: 0 }, handle: async (_request, send) => send(await answer()) };
}
