/**
 * Has the signer open bodies whose bearer values have ended, and tokens that have ended, and stores them in the clear: whoever reads rows,
 * checks or executes the log again, or restores a backup needs no signer for them then. Only the signer can open one, and by its own clock.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Reply } from "../../frames/messages.ts";
import { listEndedBodies, listEndedDisclosures } from "../../store/across_ended.ts";
import { type ClosedBody, storeOpenedBody } from "../../store/sealed_bodies.ts";
import { type ClosedDisclosure, storeOpenedDisclosure } from "../../store/sealed_disclosures.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { Job } from "./job_runner.ts";

/** Bodies have a megabyte at most: these stay well below the longest frame. */
const bodiesAtOnce = 16;
const maxBoxBytes = 2 * 1024 * 1024;
const sha256Hex = /^[0-9a-f]{64}$/;

export function openBodies(store: Store, link: SignerLink): Job {
  return {
    name: "open bodies whose bearer values have ended",
    everyMs: 5_000,
    async run(signal) {
      await openEnded(store, link, Date.now(), signal);
      await openEndedTokens(store, link, Date.now(), signal);
    },
  };
}

/** All that ended before this time. Exported for tests, which have a clock of their own. */
export async function openEnded(store: Store, link: SignerLink, nowMs: number, signal?: AbortSignal): Promise<void> {
  let refused = 0;
  let last: ClosedBody | undefined;
  while (signal?.aborted !== true) {
    const bodies = await listEndedBodies(store, nowMs, last, bodiesAtOnce);
    if (bodies.length > 0) refused += await openPortion(store, link, bodies);
    last = bodies.at(-1);
    if (bodies.length < bodiesAtOnce) break;
  }
  // They stay as they are, and are asked for again.
  if (refused > 0) {
    throw new Fault("internal", `${refused} sealed bodies do not open; \`npx keystead check-database\` names them`);
  }
}

/** The same of tokens that stamps came with. */
export async function openEndedTokens(
  store: Store,
  link: SignerLink,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  let refused = 0;
  let last: ClosedDisclosure | undefined;
  while (signal?.aborted !== true) {
    const tokens = await listEndedDisclosures(store, nowMs, last, bodiesAtOnce);
    const bodies = tokens.filter(({ sealed, digest }) => sealed.length <= maxBoxBytes && sha256Hex.test(digest));
    const asked = bodies.map(({ digest, ...row }) => ({ ...row, fingerprint: digest }));
    const replies = bodies.length > 0 ? await ask(link, asked) : [];
    refused += tokens.length - bodies.length;
    for (const [index, reply] of replies.entries()) {
      const token = bodies[index];
      if (reply.kind === "opened" && token !== undefined) await storeOpenedDisclosure(store, token, reply.value.body);
      if (reply.kind === "refused") refused += 1;
    }
    last = tokens.at(-1);
    if (tokens.length < bodiesAtOnce) break;
  }
  if (refused > 0) {
    throw new Fault("internal", `${refused} sealed tokens do not open; \`npx keystead check-database\` names them`);
  }
}

type Asked = Pick<ClosedBody, "organizationId" | "fingerprint" | "sealed">;

function ask(link: SignerLink, bodies: readonly Asked[]): Promise<Reply<"openBodies">> {
  return link.request("openBodies", {
    bodies: bodies.map(({ organizationId, fingerprint, sealed }) => {
      return { organizationId, fingerprint: fromHex(fingerprint), sealed };
    }),
  });
}

/** How many of them do not open at all. */
async function openPortion(store: Store, link: SignerLink, all: readonly ClosedBody[]): Promise<number> {
  // Rows that somebody has changed must not hold the others up.
  const bodies = all.filter(({ sealed, fingerprint }) => sealed.length <= maxBoxBytes && sha256Hex.test(fingerprint));
  const replies = await ask(link, bodies);
  let refused = all.length - bodies.length;
  for (const [index, reply] of replies.entries()) {
    const body = bodies[index];
    if (reply.kind === "opened" && body !== undefined) await storeOpenedBody(store, body, reply.value.body);
    if (reply.kind === "refused") refused += 1;
  }
  return refused;
}
