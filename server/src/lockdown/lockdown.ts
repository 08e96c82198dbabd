import { registerHooks } from "node:module";

/**
 * Closes what Node's flags leave open in a process that holds secrets: signals to other processes, V8 flags (some write files past the
 * permission model), and every module that is not loaded yet. Call it once, when everything the process needs has been imported.
 *
 * A belt over the braces: the process is meant to hold no hostile code, and hostile code in its heap has the secrets already.
 * What this buys is that a bug cannot reach further than its author thought.
 */
export function lockDown(processName: string): void {
  for (const name of processCalls) close(process, name, processName);
  for (const name of globalCalls) close(globalThis, name, processName);
  registerHooks({
    resolve(specifier) {
      throw denied(processName, `loading ${specifier}`);
    },
  });
}

// `_kill` and `_debugProcess` are what `kill` and `node inspect -p` are made of; `abort` writes a core file where the system allows one.
const processCalls = [
  "_debugEnd",
  "_debugProcess",
  "_kill",
  "_linkedBinding",
  "abort",
  "binding",
  "dlopen",
  "execve",
  "getBuiltinModule",
  "initgroups",
  "kill",
  "loadEnvFile",
  "openStdin",
  "setegid",
  "seteuid",
  "setgid",
  "setgroups",
  "setuid",
];

const globalCalls = ["EventSource", "WebSocket", "fetch", "localStorage", "sessionStorage"];

/** A call that this Node does not have stays absent. */
function close(target: object, name: string, processName: string): void {
  if (!(name in target)) return;
  const value = () => {
    throw denied(processName, name);
  };
  // Redefined as it is, a global that Node loads when it is first used would be loaded for that.
  Reflect.deleteProperty(target, name);
  Object.defineProperty(target, name, { value, writable: false, configurable: false, enumerable: false });
}

function denied(processName: string, what: string): Error {
  return Object.assign(new Error(`the ${processName} does not allow ${what}`), { code: "ERR_ACCESS_DENIED" });
}
