/** The trials of one race. */
import type { Answers, AnyRace } from "./race.ts";
import type { Stage } from "./stage.ts";

const trialsAtOnce = 4;

/** A few trials at a time: they disturb each other as traffic does, and none waits for another. */
export async function runTrials(
  stage: Stage,
  race: AnyRace,
  trials: number,
): Promise<{ outcomes: string[]; anomalies: string[] }> {
  const outcomes: string[] = [];
  const anomalies: string[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    for (let trial = next++; trial < trials; trial = next++) {
      try {
        const fixture = await race.setUp(stage);
        const requests = race.requests(fixture, stage);
        const answers = await stage.sendAll(requests);
        outcomes.push(await race.check(fixture, answers as unknown as Answers, stage, requests));
      } catch (error) {
        anomalies.push(`trial ${trial}: ${error instanceof Error ? error.message : String(error)}`);
        // One broken thing tends to break every trial after it.
        if (anomalies.length >= 5) return;
      }
    }
  };
  await Promise.all(Array.from({ length: trialsAtOnce }, run));
  return { outcomes, anomalies };
}

export function tally(names: readonly string[]): string {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${name} ${all.length}`);
  return counts.sort().join(", ");
}
