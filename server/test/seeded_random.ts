export { type Random, seededRandom, shuffled } from "../../core/test/seeded_random.ts";
