/** The load generator, a process of its own: it signs a phase's requests, says so, and sends them when told to. */
import { openConnection } from "./connection.ts";
import type { FromLoad, Job, LoadResult, ToLoad } from "./load_messages.ts";
import { createPresigner } from "./presign.ts";
import { quantile } from "./statistics.ts";

type Turn = { requests: readonly Buffer[]; bears?: string };

/** The requests of one connection; undefined when there are no more. */
type Script = () => Turn | undefined;

function scriptsOf({ account, endpoint, connections, requests, spreadMs = 0, organizationIds }: Job): Script[] {
  const presigner = createPresigner(account);
  if (endpoint === "whoami") {
    const turn = { requests: [presigner.whoami()] };
    return Array.from({ length: connections }, () => () => turn);
  }
  if (endpoint === "create_sub_organization") {
    const share = Math.ceil(requests / connections);
    return Array.from({ length: connections }, () => {
      const signed = Array.from({ length: share }, () => presigner.subOrganization(Date.now()));
      return () => {
        const next = signed.pop();
        return next && { requests: [next.request], bears: next.organizationId };
      };
    });
  }
  const pairs = Math.ceil(requests / 2 / connections);
  return Array.from({ length: connections }, (_, connection) => {
    const signed = Array.from({ length: pairs }, (_, index) => {
      const number = connection * pairs + index;
      const place = number / (connections * pairs);
      const organizationId = organizationIds?.[number % organizationIds.length];
      return { requests: presigner.tagPair(Date.now() - Math.floor(place * spreadMs), organizationId) };
    });
    return () => signed.pop();
  });
}

async function run({ account, seconds }: Job, scripts: readonly Script[]): Promise<LoadResult> {
  const [host = "", port] = account.host.split(":");
  const latencies: number[] = [];
  const born: string[] = [];
  const begun = performance.now();
  const until = begun + seconds * 1000;
  let over = false;
  await Promise.all(
    scripts.map(async (next) => {
      const connection = openConnection(host, Number(port));
      while (!over) {
        const turn = next();
        if (turn === undefined) break;
        // A tag that was created is deleted before the phase ends: as many live at once as there are connections.
        for (const request of turn.requests) latencies.push(await connection.send(request));
        if (turn.bears !== undefined) born.push(turn.bears);
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

let prepared: { job: Job; scripts: Script[] } | undefined;

process.on("message", (message: ToLoad) => {
  if (message.kind === "prepare") {
    prepared = { job: message.job, scripts: scriptsOf(message.job) };
    tell({ kind: "prepared" });
  } else if (prepared !== undefined) {
    run(prepared.job, prepared.scripts).then(
      (result) => tell({ kind: "done", result }),
      (error: Error) => tell({ kind: "failed", message: error.message }),
    );
  }
});
process.on("disconnect", () => process.exit());
