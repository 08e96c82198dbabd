/** The newest states of organizations, committed or not, for requests that follow on them. */
import { createLru } from "../../state/lru.ts";
import { type OpenState, weightOf } from "./open_state.ts";

export type Heads = {
  get(organizationId: string): OpenState | undefined;
  set(state: OpenState): void;
};

/** How many bytes of states are at hand: thousands of common ones, few of the largest. The gateway offers any other again. */
const maxBytes = 48 * 1024 * 1024;

/**
 * States above this weigh so much for the keys that their organizations have deleted, renamed or exported. They have a room to themselves:
 * one of them must not drive a thousand others out.
 */
const heavyBytes = 8 * 1024 * 1024;

export function createHeads(): Heads {
  const common = createLru<OpenState | undefined>(maxBytes);
  const heavy = createLru<OpenState | undefined>(maxBytes);
  return {
    get: (organizationId) => common.get(organizationId) ?? heavy.get(organizationId),
    set(state) {
      const { organizationId } = state;
      const weight = weightOf(state);
      const [own, other] = weight > heavyBytes ? [heavy, common] : [common, heavy];
      own.set(organizationId, state, weight);
      if (other.get(organizationId) !== undefined) other.set(organizationId, undefined, 0);
    },
  };
}
