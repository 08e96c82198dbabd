/** Solana's counts from 0 to 65535: seven bits a byte, least first, the high bit saying that another byte follows. */
import { Fault } from "../fault.ts";
import { type Layout, u8 } from "./layout.ts";

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed compact-u16: ${why}`);
}

/** One to three bytes; a last byte of zero would be a second spelling and is refused, as the network refuses it. */
export const compactU16: Layout<number> = {
  write(out, value) {
    if ((value & 0xffff) !== value) throw new Fault("internal", "a compact-u16 needs an integer from 0 to 65535");
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) u8.write(out, (rest & 0x7f) | 0x80);
    u8.write(out, rest);
  },
  read(from) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = u8.read(from);
      value |= (byte & 0x7f) << shift;
      if (value > 0xffff) throw malformed("over 65535");
      if (byte < 0x80) {
        if (byte === 0 && shift > 0) throw malformed("not the shortest form");
        return value;
      }
      if (shift === 14) throw malformed("over three bytes");
    }
  },
};
