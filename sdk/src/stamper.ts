/** Proves who sends a request, by signing exactly the bytes of its body. */
export type Stamper = {
  stamp(body: Uint8Array): StampHeader | Promise<StampHeader>;
};

/** The header that carries a stamp. */
export type StampHeader = { name: string; value: string };
