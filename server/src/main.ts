/** The launcher. It starts the gateway and the signer, joins them, and starts them again; it serves nothing itself and has no dependencies. */
import { keysteadCode } from "./launcher/code.ts";
import { runFromTerminal } from "./launcher/start.ts";

await runFromTerminal(keysteadCode());
