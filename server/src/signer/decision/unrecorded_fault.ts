import { Fault } from "@keystead/core/fault.ts";

/**
 * A refusal that leaves no trace: it follows from what the gateway brought or did not bring, so it is no outcome that the log could show
 * and anybody decide again.
 */
export class UnrecordedFault extends Fault {}
