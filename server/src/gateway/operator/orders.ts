/** Work an operator orders on the whole deployment; each ends with a report and the process. */
import type { SignerLink } from "../link/signer_link.ts";
import type { JoinLogDependencies } from "../log/join_log.ts";
import { acceptDatabase } from "./accept_database.ts";
import { checkDatabase } from "./check_database.ts";
import { checkLog, type Report } from "./check_log.ts";
import { rotateKeys } from "./rotate_keys.ts";

export type OrderDependencies = JoinLogDependencies & {
  link: SignerLink;
  /** Of the deployment's log. */
  logPublicKey(): string;
};

const orders: Readonly<Record<string, (dependencies: OrderDependencies) => Promise<Report>>> = {
  "accept-database": async (dependencies) => ({ lines: await acceptDatabase(dependencies), ok: true }),
  "accept-clock": async () => ({ lines: ["the signer's clock is accepted as it is now"], ok: true }),
  "check-log": ({ store, link, logPublicKey }) => checkLog(store, link, logPublicKey()),
  "check-database": ({ store, link, logPublicKey }) => checkDatabase(store, link, logPublicKey(), { rebuilds: false }),
  "repair-database": ({ store, link, logPublicKey }) => checkDatabase(store, link, logPublicKey(), { rebuilds: true }),
  "rotate-keys": async ({ store, link }) => ({ lines: await rotateKeys(store, link), ok: true }),
};

/** The order of this name; undefined when the gateway serves. */
export function findOrder(name: string, dependencies: OrderDependencies): (() => Promise<Report>) | undefined {
  const order = Object.hasOwn(orders, name) ? orders[name] : undefined;
  return order && (() => order(dependencies));
}
