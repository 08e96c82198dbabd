/** The launcher as in main.ts, with the stand-ins in place of gateway and signer. */
import { fileURLToPath } from "node:url";
import { keysteadCode } from "./code.ts";
import { processes } from "./processes.ts";
import { runFromTerminal } from "./start.ts";

const code = keysteadCode();
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// In vain: whoever waits for this gateway to stop waits for ever.
const isAwaited = process.env.KEYSTEAD_WISH === "never stop";
const gateway = { ...processes.gateway, ...(isAwaited && { stopsWithinMs: 2 ** 31 - 1 }) };
await runFromTerminal(
  {
    ...code,
    gateway: { ...code.gateway, entry: here("stand_in_gateway.test_entry.ts") },
    signer: { ...code.signer, entry: here("stand_in_signer.test_entry.ts") },
  },
  { ...processes, gateway: { ...gateway, settings: [...gateway.settings, "KEYSTEAD_WISH"] } },
);
