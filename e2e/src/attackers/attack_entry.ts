/** An attacker, a process of its own: what it costs itself must not be taken for what it costs the server. */
import { type Assault, startAssault } from "./attack.ts";
import type { FromAttacker, ToAttacker } from "./attack_process.ts";
import { attacks } from "./attacks.ts";

function tell(message: FromAttacker): void {
  process.send?.(message);
}

let assault: Assault | undefined;
let before = process.cpuUsage();

process.on("message", async (message: ToAttacker) => {
  if (message.kind === "start") {
    assault = startAssault(message.target);
    await attacks[message.name].begin(assault);
    before = process.cpuUsage();
    tell({ kind: "begun" });
  } else if (assault !== undefined) {
    const { user, system } = process.cpuUsage(before);
    if (message.kind === "stop") assault.stop();
    if (message.kind === "countAnew") assault.tally.mostOpen = assault.tally.open;
    const kind = message.kind === "stop" ? "ended" : "going";
    tell({ kind, tally: assault.tally, cpuMs: (user + system) / 1000 });
  }
});
process.on("disconnect", () => process.exit());
