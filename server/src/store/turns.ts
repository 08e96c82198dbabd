/** Something that one holds at a time, or a few do. The others follow in the order in which they came. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places = 1) {
    this.#free = places;
  }

  get isTaken(): boolean {
    return this.#free === 0;
  }

  /** At once, in this same tick, unless somebody holds it. */
  acquire(): void | Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
