/** What an attack is: bytes that are sent to a server for as long as it is told to, and what came back. */
import { connect, type Socket } from "node:net";

export type Target = {
  url: string;
  organizationId: string;
  /** P-256 key of a root user, in hex: some attackers are members. */
  apiPublicKey: string;
  apiPrivateKey: string;
  /** Every page of an application shows it. */
  authProxyConfigId?: string;
};

export type Tally = {
  connections: number;
  /** Of these, those that are open now. */
  open: number;
  /** The most that were open at the same time. */
  mostOpen: number;
  /** How often each status was answered. */
  answers: Record<string, number>;
  /** Connections that ended without a word. */
  silent: number;
  /** Milliseconds from the beginning of each connection to its first answer. */
  answeredMs: number[];
  /** How often each of the first few reasons was given for a refusal, where the attack reads them. */
  said: Record<string, number>;
};

export function newTally(): Tally {
  return { connections: 0, open: 0, mostOpen: 0, answers: {}, silent: 0, answeredMs: [], said: {} };
}

export type Attack = {
  /** One sentence for the report. */
  says: string;
  /** The only statuses it may be answered with. */
  answers: readonly number[];
  /** Why a connection may end without a word; without a reason, none may. */
  silence?: string;
  /** So many connections it must have had open at the same time, or it was another attack. */
  holds?: number;
  /** It must be refused at once: the milliseconds to the first answer, a target for whoever measures them. */
  withinMs?: number;
  /** What the server may take in of one connection until it has refused it, in bytes. */
  takenIn?: number;
  /** The member whose key it misuses may be slow or hear 429 meanwhile; nobody else may. */
  hurtsItsMember?: true;
  /** What it asks is done where there is time for it; or why it is not, which says that all of it is refused. */
  isDone?: true | string;
  /** How much slower honest requests may be, where that is another target than for all. */
  ratio?: number;
  /** Honest clients have large bodies among theirs, which it is aimed at. */
  againstLarge?: true;
  /** So long it is measured, and how often, where that differs. */
  measured?: { seconds: number; rounds: number };
  /** What it asks for is limited by the hour: begun again, it would be refused, and be another attack. */
  isOnceAnHour?: true;
  /** One of so many that several are held against one measurement of a calm server. */
  sharesCalm?: true;
  /** Begins, and goes on until the assault is over. */
  begin(assault: Assault): void | Promise<void>;
};

export type Assault = {
  target: Target;
  tally: Tally;
  isOver(): boolean;
  /** A connection that counts what it is answered. `ended` is called once, however it ends. */
  open(begun: (socket: Socket) => void, ended?: () => void): void;
  /** Calls `turn` so often per second, in steps of a few milliseconds. */
  often(perSecond: number, turn: () => void): void;
  stop(): void;
};

const statusLine = Buffer.from("HTTP/1.1 ");

export function startAssault(target: Target): Assault {
  const { hostname, port } = new URL(target.url);
  const tally = newTally();
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let over = false;

  return {
    target,
    tally,
    isOver: () => over,
    open(begun, ended = () => undefined) {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      const beganAt = performance.now();
      let answered = false;
      let connected = false;
      sockets.add(socket);
      socket.on("connect", () => {
        connected = true;
        tally.connections++;
        tally.mostOpen = Math.max(tally.mostOpen, ++tally.open);
        begun(socket);
      });
      socket.on("data", (chunk: Buffer) => {
        const count = countAnswers(chunk, tally.answers);
        if (count > 0 && !answered) tally.answeredMs.push(performance.now() - beganAt);
        answered ||= count > 0;
      });
      // Whoever still sends when it is refused is cut off: what it was told before counts.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        if (connected) tally.open--;
        if (!answered && !over) tally.silent++;
        ended();
      });
    },
    often(perSecond, turn) {
      const stepMs = 10;
      let owed = 0;
      const timer = setInterval(() => {
        for (owed += (perSecond * stepMs) / 1000; owed >= 1; owed--) turn();
      }, stepMs);
      timers.add(timer);
    },
    stop() {
      over = true;
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Counts the status lines in what arrived. One cut in two by the network is not counted; the next one is. */
function countAnswers(chunk: Buffer, answers: Record<string, number>): number {
  let count = 0;
  for (let at = chunk.indexOf(statusLine); at >= 0; at = chunk.indexOf(statusLine, at + 12)) {
    const status = chunk.toString("latin1", at + 9, at + 12);
    answers[status] = (answers[status] ?? 0) + 1;
    count++;
  }
  return count;
}

/**
 * Each of `count` connections has so many requests on their way, and sends one more for each that is answered: none is cut off for
 * asking too much at once.
 */
export function press(
  assault: Assault,
  count: number,
  next: () => Buffer,
  { ahead = 1, reopenMs }: { ahead?: number; reopenMs?: readonly [number, number] } = {},
): void {
  const begun = (socket: Socket): void => {
    const ask = (): void => {
      if (!assault.isOver() && socket.writable) socket.write(next());
    };
    socket.on("data", (answers: Buffer) => {
      for (let at = answers.indexOf(statusLine); at >= 0; at = answers.indexOf(statusLine, at + 1)) ask();
    });
    for (let i = 0; i < ahead; i++) ask();
  };
  keepOpen(assault, count, begun, reopenMs);
}

/** Keeps `count` connections open: whoever is thrown out comes back after a while, not all at once. */
export function keepOpen(
  assault: Assault,
  count: number,
  begun: (socket: Socket) => void,
  [least, most]: readonly [number, number] = [1_000, 3_000],
): void {
  let opened = 0;
  const open = (): void => {
    if (!assault.isOver()) assault.open(begun, () => setTimeout(open, least + Math.random() * (most - least)));
  };
  // All at once would be a flood of connections, which is another attack.
  const step = setInterval(() => {
    for (let i = 0; i < 20 && opened < count; i++, opened++) open();
    if (opened >= count || assault.isOver()) clearInterval(step);
  }, 20);
}
