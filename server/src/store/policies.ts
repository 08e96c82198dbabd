/** Policies, for readers. */
import { entityReader } from "./entity_reader.ts";

export const { find: findPolicy, list: listPolicies } = entityReader("policy");
