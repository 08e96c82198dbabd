import { open } from "node:fs/promises";
import { generateApiKey } from "@keystead/sdk";
import { type Command, refuseArguments, UsageError } from "../command.ts";
import { codeOf } from "../profile.ts";

export const generateKey: Command = {
  usage: "generate-key FILE",
  summary: "make a P-256 API key: the private key goes to FILE, mode 0600, and the public one is printed",
  async run(context) {
    refuseArguments(context, 1);
    const [path] = context.args;
    if (path === undefined) throw new UsageError("generate-key needs the name of a file for the private key");
    const { apiPublicKey, apiPrivateKey } = generateApiKey();
    await writeNew(path, `${apiPrivateKey}\n`);
    console.log(apiPublicKey);
    return 0;
  },
};

/** Never over a file that is there: a key that is overwritten is gone, with all that only it may do. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") throw new Error(`${path} exists and may be a key in use: name another file`);
    throw new Error(`cannot write ${path} (${codeOf(cause)})`);
  }
}
