import { Fault } from "@keystead/core/fault.ts";

/** Refused because the caller's address has nothing left of an hourly budget. It costs little to say so, so these answers leave one by one. */
export class BudgetSpent extends Fault {
  constructor() {
    super("resource_exhausted", "Too many requests from this address. Please wait and try again later", {
      errorCode: "RATE_LIMIT_EXCEEDED",
    });
  }
}
