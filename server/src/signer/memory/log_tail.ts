/** The newest leaves of the log, by position, in typed memory: they are many, short-lived and all alike. */

/** A leaf as the log has it: whose it is, its number, which of its organization's it is (0 for acts of the operator), and its entry. */
export type LoggedLeaf = {
  organizationId: Uint8Array;
  boot: Uint8Array;
  number: number;
  ordinal: number;
  entry: Uint8Array;
};

const slotLength = 16 + 16 + 8 + 8 + 32;
const fewestSlots = 64;

export class LogTail {
  #bytes = new Uint8Array(fewestSlots * slotLength);
  #view = new DataView(this.#bytes.buffer);
  /** The slot of the first one. */
  #begin = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push({ organizationId, boot, number, ordinal, entry }: LoggedLeaf): void {
    const at = (this.#begin + this.#length) * slotLength;
    if (at + slotLength > this.#bytes.length) {
      this.#makeSpace();
      this.push({ organizationId, boot, number, ordinal, entry });
      return;
    }
    this.#bytes.set(organizationId, at);
    this.#bytes.set(boot, at + 16);
    this.#setNumber(at + 32, number);
    this.#setNumber(at + 40, ordinal);
    this.#bytes.set(entry, at + 48);
    this.#length += 1;
  }

  /** Counted from the first one that is here. */
  at(index: number): LoggedLeaf {
    const at = (this.#begin + index) * slotLength;
    return {
      organizationId: this.#bytes.slice(at, at + 16),
      boot: this.#bytes.slice(at + 16, at + 32),
      number: this.#number(at + 32),
      ordinal: this.#number(at + 40),
      entry: this.#bytes.slice(at + 48, at + slotLength),
    };
  }

  /** The leaves from `begin` up to `end`, as indexes. */
  slice(begin: number, end: number): LoggedLeaf[] {
    return Array.from({ length: Math.max(0, Math.min(end, this.#length) - begin) }, (_, i) => this.at(begin + i));
  }

  *entries(count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index++) {
      const at = (this.#begin + index) * slotLength + 48;
      yield this.#bytes.subarray(at, at + 32);
    }
  }

  /** Forgets this many of the oldest. */
  drop(count: number): void {
    this.#begin += count;
    this.#length -= count;
  }

  /** Twice what is there; what was dropped goes. */
  #makeSpace(): void {
    const kept = this.#bytes.subarray(this.#begin * slotLength, (this.#begin + this.#length) * slotLength);
    const bytes = new Uint8Array(Math.max(fewestSlots, 2 * this.#length) * slotLength);
    bytes.set(kept);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
    this.#begin = 0;
  }

  #number(at: number): number {
    return this.#view.getUint32(at) * 2 ** 32 + this.#view.getUint32(at + 4);
  }

  #setNumber(at: number, value: number): void {
    this.#view.setUint32(at, Math.floor(value / 2 ** 32));
    this.#view.setUint32(at + 4, value >>> 0);
  }
}
