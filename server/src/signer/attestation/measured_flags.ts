/**
 * Node's flags as the manifest has them. Those that name folders differ from host to host and are left out, and so is our own `--import`, whose
 * file notes itself. Any other code that Node loads before it is noted by nobody, so the flag that names it must stay.
 */
export function measuredFlags(flags: readonly string[], ownImport: string): string[] {
  return flags.filter((flag) => !flag.startsWith("--allow-fs-") && flag !== `--import=${ownImport}`);
}
