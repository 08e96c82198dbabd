/**
 * Moduli made by a library whose primes are all of the form k·M + (65537^a mod M), for M a product of the first primes (CVE-2017-15361,
 * "ROCA"). Their private keys can be computed. A product of two such primes is a power of 65537 modulo each of the first primes; of other
 * moduli one in some hundred million is.
 */
const generator = 65_537;
/** Those of the first primes modulo which 65537 does not make every number: the others tell nothing. */
const primes = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157];

const powers = primes.map((prime) => ({ prime, residues: powersModulo(prime) }));

function powersModulo(prime: number): ReadonlySet<number> {
  const residues = new Set<number>();
  for (let power = 1; !residues.has(power); power = (power * generator) % prime) residues.add(power);
  return residues;
}

/** Whether the private key of this modulus can be computed by whoever sees it. Big-endian. */
export function hasRocaFingerprint(modulus: Uint8Array): boolean {
  return powers.every(({ prime, residues }) => residues.has(remainder(modulus, prime)));
}

function remainder(bytes: Uint8Array, divisor: number): number {
  let rest = 0;
  for (let i = 0; i < bytes.length; i++) rest = (rest * 256 + (bytes[i] ?? 0)) % divisor;
  return rest;
}
