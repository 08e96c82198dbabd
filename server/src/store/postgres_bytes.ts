/**
 * `bytea[]` in the form that PostgreSQL's processes send each other. As text each byte is two digits, which both sides write, escape and
 * read: a page of 3 MB took 60 ms so, much of it in the gateway's one thread.
 */

const byteaOid = 17;
const headLength = 20;
const nullLength = -1;

/** For a parameter: the driver sends a Buffer as it is. */
export function bytesArray(values: readonly (Uint8Array | null | undefined)[]): Buffer {
  const length = values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), headLength);
  const bytes = Buffer.allocUnsafe(length);
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(1, 4); // nulls are possible
  bytes.writeInt32BE(byteaOid, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // the first one's index
  let at = headLength;
  for (const value of values) {
    at = bytes.writeInt32BE(value?.length ?? nullLength, at);
    if (value) bytes.set(value, at);
    at += value?.length ?? 0;
  }
  return bytes;
}
