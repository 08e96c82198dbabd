import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** By which requests are counted apart. */
export type MetricKind = "query" | "submit" | "proxy";

export type Metrics = {
  /** Call the returned function with the HTTP status when the answer is on its way. */
  start(kind: MetricKind, path: string): (status: number) => void;
  /** `held`: bytes that wait in the gateway, by where they do. */
  text(held?: Readonly<Record<string, number>>): Promise<string>;
};

const unreadable = [
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_heap_bytes",
  "process_open_fds",
  "process_max_fds",
];

/** Upper bounds in seconds. */
const buckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, Number.POSITIVE_INFINITY] as const;

type Endpoint = {
  labels: string;
  answers: Map<number, number>;
  /** How many took at most the bound of the same place, and more than the one before. */
  counts: number[];
  seconds: number;
};

/**
 * Counts and durations by endpoint and status; no identifiers of anyone. Requests are counted in plain numbers and only
 * written out when somebody asks: hashing labels for each would cost 2 % of a query.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // These are read from /proc, which this process may not; zeros would be worse than nothing.
  for (const name of unreadable) registry.removeSingleMetric(name);
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const endpoints: Record<MetricKind, Map<string, Endpoint>> = {
    query: new Map(),
    submit: new Map(),
    proxy: new Map(),
  };

  function endpointOf(kind: MetricKind, path: string): Endpoint {
    const known = endpoints[kind].get(path);
    if (known !== undefined) return known;
    const fresh = {
      labels: `kind="${kind}",path="${path}"`,
      answers: new Map(),
      counts: buckets.map(() => 0),
      seconds: 0,
    };
    endpoints[kind].set(path, fresh);
    return fresh;
  }

  return {
    start(kind, path) {
      const endpoint = endpointOf(kind, path);
      const begun = performance.now();
      return (status) => {
        const seconds = (performance.now() - begun) / 1000;
        endpoint.answers.set(status, (endpoint.answers.get(status) ?? 0) + 1);
        const place = buckets.findIndex((bound) => seconds <= bound);
        endpoint.counts[place] = (endpoint.counts[place] ?? 0) + 1;
        endpoint.seconds += seconds;
      };
    },
    async text(held = {}) {
      const counted = toText(Object.values(endpoints).flatMap((ofKind) => [...ofKind.values()]));
      return (await registry.metrics()) + counted + heldText(held);
    },
  };
}

function heldText(held: Readonly<Record<string, number>>): string {
  return [
    "# HELP keystead_held_bytes Bytes that wait, by where; docs/reliability.md has the bounds.",
    "# TYPE keystead_held_bytes gauge",
    ...Object.entries(held).map(([where, bytes]) => `keystead_held_bytes{where="${where}"} ${bytes}`),
    "",
  ].join("\n");
}

/** The Prometheus text format, 0.0.4. */
function toText(endpoints: readonly Endpoint[]): string {
  const requests = endpoints.flatMap(({ labels, answers }) =>
    [...answers].map(([status, count]) => `keystead_requests_total{${labels},status="${status}"} ${count}`),
  );
  const durations = endpoints.flatMap(({ labels, counts, seconds }) => {
    let sum = 0;
    const lines = buckets.map((bound, place) => {
      sum += counts[place] ?? 0;
      const le = Number.isFinite(bound) ? bound : "+Inf";
      return `keystead_request_seconds_bucket{${labels},le="${le}"} ${sum}`;
    });
    return [
      ...lines,
      `keystead_request_seconds_sum{${labels}} ${seconds}`,
      `keystead_request_seconds_count{${labels}} ${sum}`,
    ];
  });
  return [
    "# HELP keystead_requests_total Answered requests.",
    "# TYPE keystead_requests_total counter",
    ...requests,
    "# HELP keystead_request_seconds Time from body to answer.",
    "# TYPE keystead_request_seconds histogram",
    ...durations,
    "",
  ].join("\n");
}
