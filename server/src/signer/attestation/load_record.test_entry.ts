/** Loads what the signer loads, under its flags, and prints what was noted before and after `lockDown`. */
import { lockDown } from "../../lockdown/lockdown.ts";
import "../operations.ts";
import { loadedFiles } from "./load_record.ts";

lockDown("signer");
const name = "../serve.ts";
const later = await import(name).then(
  () => "loaded",
  (error: { code: string }) => error.code,
);
process.stdout.write(JSON.stringify({ files: loadedFiles(), later }));
