import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

export type Metrics = {
  /** Call the returned function with the HTTP status when the answer is on its way. */
  start(kind: "query" | "submit", path: string): (status: number) => void;
  text(): Promise<string>;
};

/** Counts and durations by endpoint and status; no identifiers of anyone. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "keystead_requests_total",
    help: "Answered requests.",
    labelNames: ["kind", "path", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "keystead_request_seconds",
    help: "Time from body to answer.",
    labelNames: ["kind", "path"],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  return {
    start(kind, path) {
      const begun = performance.now();
      return (status) => {
        requests.inc({ kind, path, status });
        durations.observe({ kind, path }, (performance.now() - begun) / 1000);
      };
    },
    text: () => registry.metrics(),
  };
}
