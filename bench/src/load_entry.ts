/** The load generator, a process of its own: it signs a phase's requests, says so, and sends them when told to. */
import { openConnection } from "./connection.ts";
import type { FromLoad, Job, LoadResult, ToLoad } from "./load_messages.ts";
import { createPresigner } from "./presign.ts";
import { quantile } from "./statistics.ts";

/** The requests of one connection; undefined when there are no more. */
type Script = () => readonly Buffer[] | undefined;

function scriptsOf({ account, endpoint, connections, requests, spreadMs = 0 }: Job): Script[] {
  const presigner = createPresigner(account);
  if (endpoint === "whoami") {
    const turn = [presigner.whoami()];
    return Array.from({ length: connections }, () => () => turn);
  }
  const pairs = Math.ceil(requests / 2 / connections);
  return Array.from({ length: connections }, (_, connection) => {
    const signed = Array.from({ length: pairs }, (_, index) => {
      const place = (connection * pairs + index) / (connections * pairs);
      return presigner.tagPair(Date.now() - Math.floor(place * spreadMs));
    });
    return () => signed.pop();
  });
}

async function run({ account, seconds }: Job, scripts: readonly Script[]): Promise<LoadResult> {
  const [host = "", port] = account.host.split(":");
  const latencies: number[] = [];
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
        for (const request of turn) latencies.push(await connection.send(request));
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
