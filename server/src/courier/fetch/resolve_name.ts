import { promises as dns } from "node:dns";
import type { Address } from "./checked_addresses.ts";

/**
 * One look-up of a name, both families. It asks the system's name servers itself and not `getaddrinfo`, whose calls cannot be ended and
 * wait on threads that all look-ups share: a stranger's slow name server would keep everybody waiting.
 */
export async function resolveName(name: string, signal: AbortSignal): Promise<Address[]> {
  return resolveWith(new dns.Resolver({ timeout: 1_500, tries: 3 }), name, signal);
}

export async function resolveWith(resolver: dns.Resolver, name: string, signal: AbortSignal): Promise<Address[]> {
  signal.throwIfAborted();
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    // Most names have one of the two, and some servers answer the other question with an error.
    const [v6, v4] = await Promise.all([
      resolver.resolve6(name).catch(() => []),
      resolver.resolve4(name).catch(() => []),
    ]);
    signal.throwIfAborted();
    return [
      ...v6.map((address): Address => ({ address, family: 6 })),
      ...v4.map((address): Address => ({ address, family: 4 })),
    ];
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
