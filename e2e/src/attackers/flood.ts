/** Attackers in a hurry: many small requests whose stamps are wrong in the ways that cost most to find out. */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { bytesOf } from "../wire.ts";
import { type Assault, type Attack, keepOpen } from "./attack.ts";
import { createUserTag, falseStamp, headOf, strangerStamp, whoami, withLength } from "./prepared.ts";

const perSecond = 10_000;
const sockets = 50;
const recordsPerSecond = 200;

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

export const floodAttacks = {
  "bad stamps": {
    says: `${perSecond} requests per second with bad stamps on ${sockets} connections`,
    answers: [401, 429],
    begin: (assault) => flood(assault, badStamps(assault), perSecond),
  },
  "many records": {
    says: `a stranger's requests about 1,000 wallets each, ${recordsPerSecond} per second on ${sockets} connections`,
    answers: [401, 429],
    begin: (assault) => flood(assault, manyRecords(assault), recordsPerSecond),
  },
  readiness: {
    says: `${perSecond} questions per second whether the server is ready, on ${sockets} connections`,
    answers: [200, 429],
    begin: (assault) => flood(assault, [headOf("/readyz", [], "GET")], perSecond),
  },
} as const satisfies Record<string, Attack>;
