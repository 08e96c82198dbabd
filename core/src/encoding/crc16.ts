/** CRC-16/XMODEM, the checksum inside Stellar and TON addresses: polynomial 1021, nothing reflected, begins at zero. */

const polynomial = 0x1021;

/** The sixteen bits as a number; the two ledgers write them in opposite byte order. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 0x8000 ? ((crc << 1) ^ polynomial) & 0xffff : crc << 1;
    }
  }
  return crc;
}
