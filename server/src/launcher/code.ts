import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A program and what it must be able to read in order to run. */
export type Program = { entry: string; readable: readonly string[] };
export type Code = { root: string; gateway: Program; signer: Program };

/** The children run in the form in which this runs: as it was written, or with its types removed. */
const form = import.meta.url.endsWith(".ts") ? { folder: "src", ending: "ts" } : { folder: "build", ending: "js" };

// Rooms and packages of the signer. A package that is missing here cannot be loaded by it, however it got into the tree.
const signerRooms = [
  "activities",
  "curves",
  "endpoints",
  "fields",
  "frames",
  `generated/activities.${form.ending}`,
  `generated/activity_validators.${form.ending}`,
  "rules",
  "signer",
  "state",
];
const signerPackages = ["@noble", "@scure", "tiny-secp256k1", "uint8array-tools"];

/** Keystead's own programs in this checkout. */
export function keysteadCode(): Code {
  const root = realpathSync(fileURLToPath(new URL("../../../", import.meta.url))).replace(/\/$/, "");
  const manifests = ["package.json", "core/package.json", "server/package.json"];
  // Node resolves a workspace through its link in node_modules and then reads the real path, so both are listed.
  const shared = [...manifests, `core/${form.folder}`, "node_modules/@keystead/core"];
  const signer = [...shared, ...signerRooms.map((room) => `server/${form.folder}/${room}`)];
  // A version that another package does not share lies below the workspace that asked for it.
  const signerModules = signerPackages.flatMap((name) => [`node_modules/${name}`, `core/node_modules/${name}`]);
  const gateway = [...shared, `server/${form.folder}`, "node_modules", "core/node_modules", "dashboard/dist"];
  const present = (paths: string[]) => paths.map((path) => `${root}/${path}`).filter((path) => existsSync(path));
  return {
    root,
    gateway: { entry: `${root}/server/${form.folder}/gateway/main.${form.ending}`, readable: present(gateway) },
    signer: {
      entry: `${root}/server/${form.folder}/signer/main.${form.ending}`,
      readable: present([...signer, ...signerModules]),
    },
  };
}
