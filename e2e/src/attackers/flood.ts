/** Attackers in a hurry: many small requests whose stamps are wrong in the ways that cost most to find out. */
import type { Socket } from "node:net";
import { bytesOf } from "../wire.ts";
import { type Assault, type Attack, keepOpen } from "./attack.ts";
import { createUserTag, falseStamp, strangerStamp, whoami, withLength } from "./prepared.ts";

const perSecond = 10_000;
const sockets = 50;

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

/** Keeps to the rate whether or not it is answered, as far as the connections take it. */
function flood(assault: Assault): void {
  const requests = badStamps(assault);
  const open: Socket[] = [];
  keepOpen(assault, sockets, (socket) => {
    open.push(socket);
    socket.on("close", () => open.splice(open.indexOf(socket), 1));
  });
  let turn = 0;
  assault.often(perSecond, () => {
    const socket = open[turn % open.length];
    const request = requests[turn++ % requests.length];
    if (socket !== undefined && request !== undefined && !socket.writableNeedDrain) socket.write(request);
  });
}

export const floodAttacks = {
  "bad stamps": {
    says: `${perSecond} requests per second with bad stamps on ${sockets} connections`,
    answers: [401, 429],
    begin: flood,
  },
} as const satisfies Record<string, Attack>;
