import { setTimeout as wait } from "node:timers/promises";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";
import { collectExport } from "../log/collect_export.ts";
import { nameOfWitness } from "../log/covering_checkpoint.ts";
import { refuseFull, writeExport } from "../log/export_folder.ts";
import { listSubOrganizations } from "../log/own_history.ts";
import { openPublicLog } from "../log/public_log.ts";
import { plural } from "../printable.ts";
import { openSession } from "../profile.ts";

export async function logExport(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [folder] = context.args;
  if (folder === undefined) throw new UsageError("log export needs a folder to write to");
  refuseFull(folder);
  const { witness = [], "sub-organizations": withChildren = false } = context.flags;
  const witnesses = witness.map(nameOfWitness);
  const { client, organizationId, baseUrl } = await openSession(context.flags);
  const children = withChildren ? await listSubOrganizations(client, organizationId) : [];
  const organizationIds = [organizationId, ...children].map((id) => id.toLowerCase());
  const files = await collectExport({
    ...{ client, organizationIds, wait, witnesses },
    publicLog: openPublicLog(baseUrl, client),
    say: (line) => console.error(`keystead: ${line}`),
  });
  writeExport(folder, files);
  const flags = [...(withChildren ? ["--sub-organizations"] : []), ...witness.map((vkey) => `--witness ${vkey}`)];
  const command = ["npx keystead log verify", folder, ...flags].join(" ");
  console.log(`${plural(organizationIds.length, "organization")} in ${folder}: check it with \`${command}\``);
  return 0;
}
