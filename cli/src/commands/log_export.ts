import { setTimeout as wait } from "node:timers/promises";
import { parseVkey } from "@keystead/core/tlog/vkey.ts";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";
import { collectExport } from "../log/collect_export.ts";
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
  const { client, organizationId, baseUrl } = await openSession(context.flags);
  const children = withChildren ? await listSubOrganizations(client) : [];
  const organizationIds = [organizationId, ...children].map((id) => id.toLowerCase());
  const files = await collectExport({
    ...{ client, organizationIds, wait },
    publicLog: openPublicLog(baseUrl, client),
    witnesses: witness.map((text) => parseVkey(text).name),
    say: (line) => console.error(`keystead: ${line}`),
  });
  writeExport(folder, files);
  console.log(
    `${plural(organizationIds.length, "organization")} in ${folder}: check it with \`npx keystead log verify\``,
  );
  return 0;
}
