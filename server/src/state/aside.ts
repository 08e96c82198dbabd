/**
 * What is worked out of an immutable object once and kept with it: neither its copies nor its JSON have it. A WeakMap would do the same,
 * but its collection is one long piece of work, and a signer that replaces a thousand users in one request stood still for it.
 */
export type Aside<K extends object, V> = {
  get(object: K): V | undefined;
  /** Once for each object. Whoever looks whether there is one sets it without a pause in between. */
  set(object: K, value: V): void;
};

/** Its subclasses give private fields to the object that they are constructed with. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the object itself is what gets the fields
    return object;
  }
}

export function createAside<K extends object, V>(): Aside<K, V> {
  class Kept extends Given {
    #value: V;

    constructor(object: K, value: V) {
      super(object);
      this.#value = value;
    }

    static of(object: K): V | undefined {
      return #value in object ? (object as unknown as Kept).#value : undefined;
    }
  }
  return {
    get: Kept.of,
    set(object, value) {
      new Kept(object, value);
    },
  };
}
