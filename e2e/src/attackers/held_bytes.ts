import { send } from "../wire.ts";

const line = /^keystead_held_bytes\{where="(?<where>\w+)"\} (?<bytes>\d+)$/gm;

/** What a server says that it holds, by where it waits. */
export async function heldBytes({ url }: { url: string }): Promise<Record<string, number>> {
  const { text } = await send(url, { method: "GET", path: "/metrics" });
  return Object.fromEntries(text.matchAll(line).map(({ groups }) => [groups?.where ?? "", Number(groups?.bytes)]));
}
