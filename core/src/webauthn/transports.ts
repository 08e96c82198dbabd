/** How a browser may reach an authenticator. Clients hand this back to the browser as a hint; nothing depends on it. */
export const transports = [
  "AUTHENTICATOR_TRANSPORT_BLE",
  "AUTHENTICATOR_TRANSPORT_INTERNAL",
  "AUTHENTICATOR_TRANSPORT_NFC",
  "AUTHENTICATOR_TRANSPORT_USB",
  "AUTHENTICATOR_TRANSPORT_HYBRID",
] as const;

export type Transport = (typeof transports)[number];

export function isTransport(name: string): name is Transport {
  return (transports as readonly string[]).includes(name);
}
