/** 4,096 numbers in a row, one bit for each: however many gaps there are between those that it holds, it takes the same space. */
import { Fault } from "@keystead/core/fault.ts";

export const blockLength = 4_096;
export const blockBytes = blockLength / 8;

export type Run = readonly [first: number, last: number];

/** Numbers are given by their place in the block, from 0 to 4,095. */
export class NumberBlock {
  readonly bits = new Uint8Array(blockBytes);
  #size = 0;
  #runCount = 0;

  static fromBits(bits: Uint8Array): NumberBlock {
    if (bits.length !== blockBytes) throw new Fault("internal", `a block has ${blockBytes} bytes`);
    const block = new NumberBlock();
    block.bits.set(bits);
    for (const [first, last] of block.runs()) {
      block.#size += last - first + 1;
      block.#runCount += 1;
    }
    return block;
  }

  static full(): NumberBlock {
    return NumberBlock.fromBits(new Uint8Array(blockBytes).fill(0xff));
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get isFull(): boolean {
    return this.#size === blockLength;
  }

  get runCount(): number {
    return this.#runCount;
  }

  has(place: number): boolean {
    return ((this.bits[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0;
  }

  add(place: number): void {
    if (this.has(place)) return;
    this.bits[place >>> 3] = (this.bits[place >>> 3] ?? 0) | (1 << (place & 7));
    this.#size += 1;
    this.#runCount += 1 - this.#neighbours(place);
  }

  remove(place: number): void {
    if (!this.has(place)) return;
    this.bits[place >>> 3] = (this.bits[place >>> 3] ?? 0) & ~(1 << (place & 7));
    this.#size -= 1;
    this.#runCount -= 1 - this.#neighbours(place);
  }

  /** Numbers without a gap between them, in their order. */
  *runs(): Generator<Run> {
    let first: number | undefined;
    for (let place = 0; place < blockLength; place++) {
      if (place % 8 === 0 && this.bits[place >>> 3] === (first === undefined ? 0 : 0xff)) {
        place += 7;
        continue;
      }
      const isIn = this.has(place);
      if (isIn && first === undefined) first = place;
      if (!isIn && first !== undefined) {
        yield [first, place - 1];
        first = undefined;
      }
    }
    if (first !== undefined) yield [first, blockLength - 1];
  }

  /** How many of the two beside it are in. Beyond the block there is none. */
  #neighbours(place: number): number {
    const isAfterOne = place > 0 && this.has(place - 1);
    const isBeforeOne = place < blockLength - 1 && this.has(place + 1);
    return (isAfterOne ? 1 : 0) + (isBeforeOne ? 1 : 0);
  }
}
