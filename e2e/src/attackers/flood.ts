/** Attackers in a hurry: many small requests whose stamps are wrong in the ways that cost most to find out. */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { bytesOf } from "../wire.ts";
import { type Assault, type Attack, keepOpen, press } from "./attack.ts";
import { createUserTag, falseStamp, headOf, strangerStamp, whoami, withLength } from "./prepared.ts";

const sockets = 50;
const manySockets = 1_000;
const recordsPerSecond = 200;
/** As many as a connection may have waiting behind the one that is answered. */
const ahead = 16;

function badStamps({ target }: Assault): Buffer[] {
  const { organizationId } = target;
  const question = bytesOf({ organizationId });
  const order = bytesOf({
    type: "ACTIVITY_TYPE_CREATE_USER_TAG",
    timestampMs: String(Date.now()),
    organizationId,
    parameters: { userTagName: "flood", userIds: [] },
  });
  const strangers = Array.from({ length: 50 }, () => withLength(whoami, strangerStamp(question), question));
  return [
    ...strangers,
    ...strangers.map((_, index) => withLength(whoami, falseStamp(target, bytesOf(String(index))), question)),
    ...strangers.map((_, index) => withLength(createUserTag, falseStamp(target, bytesOf(String(index))), order)),
    ...strangers.map((_, index) => withLength(whoami, Buffer.from(`{"${index}":0}`).toString("base64url"), question)),
  ];
}

/** All under one member's public key, which is no secret: stamps that are wrong, over questions and over activities. */
function misusedKey({ target }: Assault): Buffer[] {
  const question = bytesOf({ organizationId: target.organizationId });
  const stamps = Array.from({ length: 100 }, (_, index) => falseStamp(target, bytesOf(String(index))));
  return stamps.map((stamp, index) => withLength(index % 2 === 0 ? whoami : createUserTag, stamp, question));
}

/** Each names a thousand wallets, which somebody would have to look for. */
function manyRecords({ target: { organizationId } }: Assault): Buffer[] {
  const body = bytesOf({
    type: "ACTIVITY_TYPE_DELETE_WALLETS",
    timestampMs: String(Date.now()),
    organizationId,
    parameters: { walletIds: Array.from({ length: 1_000 }, () => randomUUID()), deleteWithoutExport: true },
  });
  return [withLength("/public/v1/submit/delete_wallets", strangerStamp(body), body)];
}

/** Keeps to the rate whether or not it is answered, as far as the connections take it. */
function flood(assault: Assault, requests: readonly Buffer[], rate: number): void {
  const open: Socket[] = [];
  keepOpen(assault, sockets, (socket) => {
    open.push(socket);
    socket.on("close", () => open.splice(open.indexOf(socket), 1));
  });
  let turn = 0;
  assault.often(rate, () => {
    const socket = open[turn % open.length];
    const request = requests[turn++ % requests.length];
    if (socket !== undefined && request !== undefined && !socket.writableNeedDrain) socket.write(request);
  });
}

/** These in turn, each as soon as the one before it is answered. */
function inTurn(requests: readonly Buffer[]): () => Buffer {
  let turn = 0;
  return () => requests[turn++ % requests.length] as Buffer;
}

export const floodAttacks = {
  "bad stamps": {
    says: `bad stamps on ${sockets} connections, ${ahead} at a time on each, as fast as they are answered`,
    answers: [401, 429],
    holds: sockets,
    begin: (assault) => press(assault, sockets, inTurn(badStamps(assault)), { ahead }),
  },
  "a member's key": {
    says: `bad stamps under one member's key on ${manySockets} connections, each as fast as it is answered`,
    answers: [401, 429],
    holds: manySockets,
    hurtsItsMember: true,
    begin: (assault) => press(assault, manySockets, inTurn(misusedKey(assault))),
  },
  "many records": {
    says: `a stranger's requests about 1,000 wallets each, ${recordsPerSecond} per second on ${sockets} connections`,
    answers: [401, 429],
    holds: sockets,
    begin: (assault) => flood(assault, manyRecords(assault), recordsPerSecond),
  },
  readiness: {
    says: `whether the server is ready, on ${sockets} connections, ${ahead} at a time on each, as fast as they are answered`,
    // Node's own 503 is for what comes behind the last request that a connection may ask.
    answers: [200, 429, 503],
    holds: sockets,
    begin: (assault) => press(assault, sockets, () => headOf("/readyz", [], "GET"), { ahead }),
  },
} as const satisfies Record<string, Attack>;
