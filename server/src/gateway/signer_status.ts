/** Whether the signer can be used, and its public keys. Joining and losing it write this; routes and readiness read it. */
import { Fault } from "@keystead/core/fault.ts";
import { unlessAway } from "../store/database_away.ts";
import type { PublicBoot } from "../views/boot_proof_view.ts";

export type SignerStatus = {
  /** Why the signer cannot be used, in words for anybody; undefined while it can. */
  trouble(): string | undefined;
  setTrouble(why: string | undefined): void;
  publicKeys(): Readonly<Record<string, string>>;
  setPublicKeys(keys: Readonly<Record<string, string>>): void;
  /** What is public of the newest start that was recorded; undefined before. */
  boot(): PublicBoot | undefined;
  setBoot(boot: PublicBoot | undefined): void;
};

export function createSignerStatus(): SignerStatus {
  let trouble: string | undefined = "the signer has not joined yet";
  let publicKeys: Readonly<Record<string, string>> = {};
  let boot: PublicBoot | undefined;
  return {
    trouble: () => trouble,
    setTrouble(why) {
      trouble = why;
    },
    publicKeys: () => publicKeys,
    setPublicKeys(keys) {
      publicKeys = keys;
    },
    boot: () => boot,
    setBoot(newest) {
      boot = newest;
    },
  };
}

/** An error that is not a refusal of ours may name a host, a user or a path, and anybody may ask. The log has it. */
export function publicReason(error: unknown): string {
  const known = unlessAway(error);
  return known instanceof Fault ? known.message : "the signer cannot be used; the server's log says why";
}
