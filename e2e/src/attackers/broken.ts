/** Attackers who break off: a server that still holds something for them must let go of it, and of nothing else. */
import type { Assault, Attack } from "./attack.ts";
import { headOf } from "./prepared.ts";

const perSecond = 20;

/** Resets each connection, in turn at once or with the first answer. */
function reset(heads: readonly Buffer[]): Attack["begin"] {
  return ({ often, open }: Assault) => {
    let turn = 0;
    often(perSecond, () => {
      const at = turn++;
      const head = heads[at % heads.length];
      const isPatient = Math.floor(at / heads.length) % 2 === 0;
      open((socket) => {
        if (head !== undefined) socket.write(head);
        if (isPatient) socket.on("data", () => socket.resetAndDestroy());
        else setImmediate(() => socket.resetAndDestroy());
      });
    });
  };
}

const tunnel = headOf("x:443", [], "CONNECT");
const question = headOf("/healthz", [], "GET");
const upgrade = headOf("/healthz", ["Connection: Upgrade", "Upgrade: websocket"], "GET");

export const brokenAttacks = {
  "broken tunnels": {
    says: `CONNECT, alone and behind a question, and upgrades, ${perSecond} per second, each connection reset`,
    answers: [200, 405],
    silence: "who breaks off before it has read hears nothing",
    begin: reset([tunnel, upgrade, Buffer.concat([question, tunnel])]),
  },
} as const satisfies Record<string, Attack>;
