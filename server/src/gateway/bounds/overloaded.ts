import { Fault } from "@keystead/core/fault.ts";

/** Refused because too much waits already. Answers of this kind leave slowly: a client that asks again at once is no faster than that. */
export class Overloaded extends Fault {
  constructor(what: string) {
    super("resource_exhausted", `too many ${what}; try again later`);
  }
}
