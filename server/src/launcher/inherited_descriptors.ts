import { once } from "node:events";
import { closeSync, existsSync, readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;
const descriptors = "/proc/self/fd";

/**
 * Closes what the launcher's parent left open. Node hands every descriptor without the close-on-exec flag to the processes it starts, so
 * a passphrase on /dev/fd/200 would be readable in the gateway. Node opens its own with that flag, and sets it on the inherited ones below
 * 16; so whatever lacks it here is inherited. Called after the passphrase was read and before anything runs as another user.
 * Without /proc there is nothing to do: macOS starts processes with the listed descriptors alone, unless their user is changed.
 */
export async function closeInheritedDescriptors(): Promise<void> {
  if (!existsSync(descriptors)) return;
  const inherited = readdirSync(descriptors).map(Number).filter(isInherited);
  for (const descriptor of inherited) {
    if (descriptor === channelDescriptor()) await disconnect();
    else closeSync(descriptor);
  }
}

/** Of a launcher that another Node forked. Node would go on reading from it, so it is closed by Node. */
function channelDescriptor(): number | undefined {
  return (process.channel as { fd?: number } | undefined)?.fd;
}

async function disconnect(): Promise<void> {
  process.disconnect?.();
  await once(process, "disconnect");
}

function isInherited(descriptor: number): boolean {
  if (descriptor <= 2) return false;
  let info: string;
  try {
    info = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
  } catch {
    // The folder itself was open while it was read.
    return false;
  }
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  // Left open, it would reach the gateway: better no start than that.
  if (flags === undefined) throw new Error(`descriptor ${descriptor} has no flags in /proc`);
  return (Number.parseInt(flags, 8) & closeOnExec) === 0;
}
