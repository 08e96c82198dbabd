/** The program behind `e2e/src/furnish.ts`: furnishes the data folder of a stopped server as it is told, one order after the other. */
import { once } from "node:events";
import type { FromFurnisher, ToFurnisher } from "@keystead/e2e/furnish.ts";
import { furnish, type InnerFurnisher } from "./furnish.ts";

const [dataFolder = "", databaseUrl] = process.argv.slice(2);

async function carryOut(furnisher: InnerFurnisher, order: ToFurnisher): Promise<FromFurnisher> {
  if (order.kind === "found") return { organizationId: await furnisher.found(order.organization) };
  if (order.kind === "issueToken") return { token: await furnisher.issueToken(order.plan) };
  await furnisher.addUsers(order.organizationId, order.users, order.rootUserIds);
  return {};
}

/** Orders that came before the deployment was open wait. */
const orders: ToFurnisher[] = [];
let wake = () => {};
let isOver = false;
process.on("message", (order: ToFurnisher) => {
  orders.push(order);
  wake();
});
void once(process, "disconnect").then(() => {
  isOver = true;
  wake();
});

await furnish(dataFolder, databaseUrl, async (furnisher) => {
  for (;;) {
    const order = orders.shift();
    if (order !== undefined) process.send?.(await carryOut(furnisher, order));
    else if (isOver) return;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
});
