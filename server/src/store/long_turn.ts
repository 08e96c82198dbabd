/**
 * What turns out to take long waits for a turn among its like before it goes on, where whoever has it done gives such turns. Nobody can tell
 * beforehand what a query takes; this is said in the middle of one.
 */
import { AsyncLocalStorage } from "node:async_hooks";

type TakeTurn = () => Promise<void> | undefined;

const takers = new AsyncLocalStorage<TakeTurn>();

/** Does the work, which takes a turn with this if it takes long. */
export function withLongTurn<T>(takeTurn: TakeTurn, work: () => T): T {
  return takers.run(takeTurn, work);
}

/** To be awaited before something that takes long. Undefined where it may go on at once. */
export function takeLongTurn(): Promise<void> | undefined {
  return takers.getStore()?.();
}
