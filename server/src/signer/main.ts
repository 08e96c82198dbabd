/** The signer process: descriptor 3 joins the gateway, descriptor 4 the launcher. It opens nothing else but its memory. */
import { Socket } from "node:net";
import { certificatePem } from "@keystead/core/attestation/certificate.ts";
import { nodeLine, writeLoadedFiles } from "@keystead/core/attestation/loaded_files.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { lockDown } from "../lockdown/lockdown.ts";
import type { Measured } from "./attestation/boot.ts";
import { loadedFiles, ownUrl } from "./attestation/load_record.ts";
import { measuredFlags } from "./attestation/measured_flags.ts";
import { type Memory, openMemory } from "./memory/memory.ts";
import { createOperations } from "./operations.ts";
import { readControl } from "./read_control.ts";
import { createDraws } from "./secrets/draws.ts";
import type { Keyring } from "./secrets/keyring.ts";
import { selfTest } from "./self_test.ts";
import { serve } from "./serve.ts";

// Everything it will ever run is loaded by now.
lockDown("signer");

const { rootKeys, orders, nodeDigest, say, onSynced } = await readControl(4);

try {
  const note = (message: string) => say({ kind: "note", message });
  selfTest();
  const waiting: (() => void)[] = [];
  onSynced(() => waiting.shift()?.());
  const renamed = (synced: () => void) => {
    waiting.push(synced);
    say({ kind: "renamed" });
  };
  const memory = openMemoryHere();
  if (memory.torn > 0) {
    note(`a power cut tore the last ${memory.torn} bytes off its memory; they are kept in memory.torn, and it goes on`);
  }
  if (orders.resetClock) memory.resetClock(Date.now());
  memory.codes.begin(Date.now());
  const announce = ({ publicKeys, attestationRoot, courierKey }: Keyring) => {
    say({ kind: "keys", publicKeys, attestationRoot: certificatePem(attestationRoot().certificate) });
    say({ kind: "courierKey", key: toHex(courierKey) });
  };
  const measured = measure(await nodeDigest);
  const operations = createOperations(rootKeys, memory, orders, Date.now, note, announce, createDraws, measured);
  const gateway = new Socket({ fd: 3, readable: true, writable: true });
  gateway.on("error", () => undefined);
  // The launcher starts a new signer for a new gateway.
  gateway.on("close", () => process.exit(0));
  serve(gateway, operations, note);
  say({ kind: "ready" });

  /** Of a Node that the launcher could not read, the list has no line. */
  function measure(digest: Uint8Array): Measured {
    const { version, platform, arch, execArgv } = process;
    const files = loadedFiles();
    if (digest.length > 0) files.push(nodeLine(version, `${platform}-${arch}`, toHex(digest)));
    return { loadedFiles: writeLoadedFiles(files), args: measuredFlags(execArgv, ownUrl) };
  }

  function openMemoryHere(): Memory {
    try {
      return openMemory(orders.memoryFolder, rootKeys.current, { ...rootKeys, note, renamed });
    } catch (error) {
      // An error of the file system names the file, and not what it is.
      if (error instanceof Error && "syscall" in error) error.message = `its memory cannot be opened: ${error.message}`;
      throw error;
    }
  }
} catch (error) {
  say({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
}
