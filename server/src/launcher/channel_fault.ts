import { inspect } from "node:util";
import { codeOf } from "./data_folder.ts";

/**
 * A gateway that sends Node's own channel commands, or no JSON at all, makes Node throw in this process where no caller of ours could
 * catch it. `heal` gets the name of such a fault; every other uncaught error ends the process as without this. Returns the undoing.
 */
export function guardChannel(heal: (fault: string) => void): () => void {
  const hear = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => {
    if (origin === "uncaughtException" && error instanceof Error && isChannelFault(error)) {
      heal(codeOf(error) ?? error.name);
      return;
    }
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  };
  process.on("uncaughtException", hear);
  return () => process.off("uncaughtException", hear);
}

/** The message may quote what the gateway sent, but the channel splits at line ends, so it cannot make a line that looks like a frame. */
function isChannelFault(error: Error): boolean {
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return (
    frames.some((frame) => frame.includes("node:internal/child_process")) &&
    !frames.some((frame) => frame.includes("file:"))
  );
}
