/** Starts the probe of signer_sandbox.test.ts as the launcher starts the signer. Arguments: `closed` or `open`, then the probe's command line. */
import { spawn } from "node:child_process";
import { closeInheritedDescriptors } from "./inherited_descriptors.ts";

const [task, ...args] = process.argv.slice(2);
if (task === "closed") await closeInheritedDescriptors();
spawn(process.execPath, args, { env: {}, stdio: ["ignore", "inherit", "inherit", "pipe", "pipe"] });
