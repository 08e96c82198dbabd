/**
 * Fills a signer's memory on the test disk, with numbers that tell where in its history it is. See memory_cut.test.ts. With a length
 * given, nobody waits for the disk but the memory itself and, as the launcher does, whoever syncs the folder when it is told to.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "@keystead/server/launcher/durable_file.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { historyOf, memoryFixtures } from "./memory_history.ts";

const folder = process.env.KEYSTEAD_DATA ?? "";
const [seed = 0, records = 0, compactBytes] = process.argv.slice(2).map(Number);
const { rootKey, deploymentId, log } = memoryFixtures;
const random = seededRandom(seed);
const isLeftAlone = compactBytes !== undefined;
const options = isLeftAlone ? { compactBytes, renamed: () => syncFolder(folder) } : memoryFixtures;

mkdirSync(folder, { recursive: true });
let memory = openMemory(folder, rootKey, options);
memory.rememberBirth(deploymentId);
memory.rememberDeployment(deploymentId);
memory.openLog(log);
for (let number = 1; number <= records; number++) {
  const { pins, leaves } = historyOf(number);
  memory.rememberAppended(number, pins, leaves);
  if (isLeftAlone) continue;
  if (random.next() < 0.01) memory.sync();
  if (random.next() < 0.02) {
    // Some leaves behind the head, as a gateway that has not stored them yet asks for it; then others are told.
    const size = Math.max(memory.log?.checkpointSize ?? 0, number - random.below(20));
    if (size > 0) memory.rememberCheckpoint(size);
    writeFileSync(join(folder, "handed"), String(size));
  }
  if (random.next() < 0.005) {
    memory.close();
    memory = openMemory(folder, rootKey, options);
  }
}
