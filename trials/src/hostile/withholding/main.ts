/** The launcher as in the server's own main.ts, with a gateway that commits less than it has released. */
import { fileURLToPath } from "node:url";
import { keysteadCode } from "../../../../server/src/launcher/code.ts";
import { runFromTerminal } from "../../../../server/src/launcher/start.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const { gateway, ...code } = keysteadCode();
await runFromTerminal({
  ...code,
  gateway: { entry: `${here}gateway/main.ts`, readable: [...gateway.readable, here] },
});
