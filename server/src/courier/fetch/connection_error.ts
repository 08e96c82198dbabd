/** Errors of connections, in words that repeat nothing of what was sent. */

/** No certificate that vouches for the host, or no TLS. */
export function isTlsError({ code = "" }: NodeJS.ErrnoException): boolean {
  return /^(ERR_TLS|ERR_SSL|EPROTO$|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY))/.test(code);
}

/** The error's code; a message of its own could hold anything. */
export function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" && /^[A-Z0-9_]+$/.test(code) ? code : error.name;
}
