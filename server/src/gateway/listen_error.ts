/** An address that cannot be had is a setting for the operator to correct. */
export function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  return new Error(explain(error, host, port), { cause: error });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): string {
  const where = `port ${port} on ${host}`;
  if (error.code === "EADDRINUSE") return `${where} is in use: stop what uses it, or set PORT`;
  if (error.code === "EACCES") return `${where} may not be opened by this user: set PORT to one above 1023`;
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return `${host} is not an address of this machine: set KEYSTEAD_HOST`;
  }
  return `${where} cannot be opened: ${error.message}`;
}
