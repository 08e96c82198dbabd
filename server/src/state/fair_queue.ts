/**
 * A queue in which organizations take turns, however many jobs each has waiting. It is deficit round robin: whoever's turn it is may use
 * up a quantum of cost; what it uses beyond that is taken off its next turns. One that has just come goes before those that have been
 * served already, for its first quantum: whoever asks little never waits behind whoever asks much. Alone, an organization has every
 * turn. Every operation takes constant time.
 */
export type FairQueue<J> = {
  /** Jobs of all organizations. */
  readonly size: number;
  add(name: string, job: J): void;
  /** The organization whose turn it is. */
  next(): Flow<J> | undefined;
};

/** The jobs of one organization, in their order. */
export type Flow<J> = {
  readonly name: string;
  /** What is left of its turn; it may go on while there is any. */
  readonly credit: number;
  /** Of one that `next` gave there always is one. */
  first(): J;
  /** Takes the first job away. */
  shift(): void;
  charge(cost: number): void;
};

/** Those that come and go with each request stay: a Map that grows and shrinks is slow to be collected (gateway/bounds/hash_table.ts). */
const keptFlows = 1_024;

export function createFairQueue<J>(quantum: number): FairQueue<J> {
  type Own = Flow<J> & { credit: number; length: number; isListed: boolean; push(job: J): void };
  const flows = new Map<string, Own>();
  /** A flow that is listed stands in exactly one of these. */
  const fresh = createQueue<Own>();
  const served = createQueue<Own>();
  let size = 0;

  function newFlow(name: string): Own {
    const jobs = createQueue<J>();
    const flow: Own = {
      name,
      credit: quantum,
      length: 0,
      isListed: false,
      first: () => jobs.first() as J,
      push(job) {
        jobs.push(job);
        flow.length += 1;
        size += 1;
      },
      shift() {
        jobs.shift();
        flow.length -= 1;
        size -= 1;
      },
      charge(cost) {
        flow.credit -= cost;
      },
    };
    return flow;
  }

  function forgetIdle(): void {
    for (const [name, { isListed }] of flows) if (!isListed) flows.delete(name);
  }

  return {
    get size() {
      return size;
    },
    add(name, job) {
      let flow = flows.get(name);
      if (flow === undefined) {
        if (flows.size >= keptFlows) forgetIdle();
        flow = newFlow(name);
        flows.set(name, flow);
      }
      if (!flow.isListed) {
        flow.isListed = true;
        flow.credit = quantum;
        fresh.push(flow);
      }
      flow.push(job);
    },
    next() {
      for (;;) {
        const row = fresh.first() === undefined ? served : fresh;
        const flow = row.first();
        if (flow === undefined) return undefined;
        if (flow.length > 0 && flow.credit > 0) return flow;
        row.shift();
        if (flow.length > 0) {
          flow.credit += quantum;
          served.push(flow);
        } else if (row === fresh && served.first() !== undefined) {
          // It stays for a round: it could otherwise come newly with each of its jobs, before everybody else.
          served.push(flow);
        } else flow.isListed = false;
      }
    },
  };
}

export type Queue<T> = { first(): T | undefined; push(value: T): void; shift(): void };

/** Two stacks: an array that is shifted moves all that is in it. */
export function createQueue<T>(): Queue<T> {
  let out: T[] = [];
  let coming: T[] = [];
  function turnOver(): void {
    if (out.length > 0 || coming.length === 0) return;
    out = coming.reverse();
    coming = [];
  }
  return {
    first() {
      turnOver();
      return out.at(-1);
    },
    push(value) {
      coming.push(value);
    },
    shift() {
      turnOver();
      out.pop();
    },
  };
}
