/**
 * The launcher as in the server's own main.ts, with gateway and signer that can be stopped at a step (stop.ts). Their programs lie
 * in folders named like those they stand for, because whoever looks for a process goes by that.
 */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { keysteadCode, type Program } from "../../../../server/src/launcher/code.ts";
import { runFromTerminal } from "../../../../server/src/launcher/start.ts";
import { stopFile } from "./stop_file.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const readable = [here, stopFile(resolve(process.env.KEYSTEAD_DATA ?? "data"))];

function stepped(name: string, program: Program): Program {
  return { entry: `${here}${name}/main.js`, readable: [...program.readable, ...readable] };
}

const code = keysteadCode();
await runFromTerminal({
  ...code,
  gateway: stepped("gateway", code.gateway),
  signer: stepped("signer", code.signer),
});
