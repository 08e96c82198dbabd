/** An address that cannot be had is a setting for the operator to correct. The auth proxy may have a port of its own. */
export function explainListenError(
  error: NodeJS.ErrnoException & { port?: number },
  host: string,
  port: number,
): Error {
  const isProxys = error.port !== undefined && error.port !== port;
  const [at, setting] = isProxys ? [error.port ?? port, "KEYSTEAD_PROXY_PORT"] : [port, "PORT"];
  return new Error(explain(error, host, at, setting), { cause: error });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number, setting: string): string {
  const where = `port ${port} on ${host}`;
  if (error.code === "EADDRINUSE") return `${where} is in use: stop what uses it, or set ${setting}`;
  if (error.code === "EACCES") return `${where} may not be opened by this user: set ${setting} to one above 1023`;
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return `${host} is not an address of this machine: set KEYSTEAD_HOST`;
  }
  return `${where} cannot be opened: ${error.message}`;
}
