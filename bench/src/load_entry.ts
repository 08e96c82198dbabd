/** The load generator, a process of its own: it signs a phase's requests, says so, and sends them when told to. */
import { openConnection } from "./connection.ts";
import type { FromLoad, Job, LoadResult, ToLoad } from "./load_messages.ts";
import { createPresigner, type Presigner } from "./presign.ts";
import { createSignInPresigner } from "./presign_sign_ins.ts";
import { quantile } from "./statistics.ts";

type Turn = {
  requests: readonly Buffer[];
  /** What an answer says was created. */
  born?(answer: Buffer): string;
};

/** The requests of one connection; undefined when there are no more. */
type Script = () => Turn | undefined;

/**
 * For each connection its share of turns, made beforehand. `number` counts over all of them, in the order in which they are sent, as
 * nearly as connections keep step: bodies carry their time, and clients do not send older and older ones.
 */
function shared(connections: number, turns: number, make: (number: number) => Turn): Script[] {
  const share = Math.ceil(turns / connections);
  const made = Array.from({ length: share * connections }, (_, number) => make(number));
  return Array.from({ length: connections }, (_, connection) => {
    let next = connection;
    return () => {
      const turn = made[next];
      next += connections;
      return turn;
    };
  });
}

/** What each endpoint is asked. */
const scripts: Record<Job["endpoint"], (job: Job, presigner: Presigner) => Script[] | Promise<Script[]>> = {
  whoami({ connections }, presigner) {
    const turn = { requests: [presigner.whoami()] };
    return Array.from({ length: connections }, () => () => turn);
  },
  create_user_tag({ connections, requests, spreadMs = 0, organizationIds }, presigner) {
    const pairs = Math.ceil(requests / 2);
    return shared(connections, pairs, (number) => {
      const timeMs = Date.now() - Math.max(0, Math.floor((1 - number / pairs) * spreadMs));
      // A tag that was created is deleted before the phase ends: as many live at once as there are connections.
      return { requests: presigner.tagPair(timeMs, organizationIds?.[number % organizationIds.length]) };
    });
  },
  create_user_tag_again({ connections, requests }, presigner) {
    return shared(connections, Math.ceil(requests / 5), () => {
      const [create, remove] = presigner.tagPair(Date.now());
      return { requests: [create, create, create, create, remove] };
    });
  },
  create_sub_organization({ connections, requests }, presigner) {
    return shared(connections, requests, () => {
      const { request, organizationId } = presigner.subOrganization(Date.now());
      return { requests: [request], born: () => organizationId };
    });
  },
  create_wallet({ connections, requests }, presigner) {
    return shared(connections, requests, () => ({ requests: [presigner.wallet(Date.now())], born: readAddress }));
  },
  sign_raw_payload({ connections, requests, signWith = [] }, presigner) {
    return shared(connections, requests, (number) => {
      return { requests: [presigner.rawPayload(Date.now(), signWith[number % signWith.length] ?? "")] };
    });
  },
  sign_transaction({ connections, requests, signWith = [] }, presigner) {
    return shared(connections, requests, (number) => {
      return { requests: [presigner.transaction(Date.now(), signWith[number % signWith.length] ?? "")] };
    });
  },
  async create_oauth_providers({ connections, requests, userId = "" }, presigner) {
    const { registration } = await createSignInPresigner(presigner);
    return shared(connections, requests, () => ({ requests: [registration(Date.now(), userId)] }));
  },
  async oauth_login({ connections, requests }, presigner) {
    const { login } = await createSignInPresigner(presigner);
    return shared(connections, requests, () => ({ requests: [login(Date.now())] }));
  },
  async sign_up({ connections, requests, authProxyConfigId = "" }, presigner) {
    const { signUp } = await createSignInPresigner(presigner);
    return shared(connections, requests, () => ({ requests: [signUp(authProxyConfigId)] }));
  },
};

/** A wallet's address is drawn by lot in the signer, so it stands in the answer only. */
function readAddress(answer: Buffer): string {
  const { activity } = JSON.parse(answer.toString("utf8")) as {
    activity: { result: { createWalletResult: { addresses: [string] } } };
  };
  return activity.result.createWalletResult.addresses[0];
}

async function run({ account, seconds }: Job, connections: readonly Script[]): Promise<LoadResult> {
  const [host = "", port] = account.host.split(":");
  const latencies: number[] = [];
  const born: string[] = [];
  const begun = performance.now();
  const until = begun + seconds * 1000;
  let over = false;
  await Promise.all(
    connections.map(async (next) => {
      const connection = openConnection(host, Number(port));
      while (!over) {
        const turn = next();
        if (turn === undefined) break;
        for (const request of turn.requests) {
          const { ms, body } = await connection.send(request);
          latencies.push(ms);
          if (turn.born !== undefined) born.push(turn.born(body));
        }
        if (performance.now() >= until) break;
      }
      over = true;
      connection.close();
    }),
  );
  return {
    requests: latencies.length,
    seconds: (performance.now() - begun) / 1000,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    born,
  };
}

function tell(message: FromLoad): void {
  process.send?.(message);
}

let prepared: { job: Job; connections: Script[] } | undefined;

async function prepare(job: Job): Promise<void> {
  prepared = { job, connections: await scripts[job.endpoint](job, createPresigner(job.account)) };
  tell({ kind: "prepared" });
}

process.on("message", (message: ToLoad) => {
  if (message.kind === "prepare") {
    prepare(message.job).catch((error: Error) => tell({ kind: "failed", message: error.message }));
  } else if (prepared !== undefined) {
    run(prepared.job, prepared.connections).then(
      (result) => tell({ kind: "done", result }),
      (error: Error) => tell({ kind: "failed", message: error.message }),
    );
  }
});
process.on("disconnect", () => process.exit());
