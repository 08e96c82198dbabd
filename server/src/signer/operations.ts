/** The signer's few operations behind their frames. It exists once per process and joins one gateway. */
import { randomBytes } from "node:crypto";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { encodeStatement, statementMessage } from "@keystead/core/log/released.ts";
import { finish, type Work } from "@keystead/core/work.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { withLimits } from "../endpoints/limits.ts";
import { protocolVersion } from "../frames/frame.ts";
import type { MessageKind, Reply, Request } from "../frames/messages.ts";
import { digestKey } from "../state/digest.ts";
import { clockToleranceMs } from "../state/journal.ts";
import { createLru } from "../state/lru.ts";
import { createInterfaceCache } from "./decision/contract_interfaces.ts";
import { createJournalCache } from "./decision/journal_cache.ts";
import { createLine } from "./decision/line.ts";
import { createOnItsWay } from "./decision/on_its_way.ts";
import type { OpenState } from "./decision/open_state.ts";
import { prepare } from "./decision/prepare.ts";
import { createRecordCache } from "./decision/record_cache.ts";
import { release } from "./decision/release.ts";
import type { Signer } from "./decision/signer.ts";
import type { Memory } from "./memory/memory.ts";
import { type AcceptedHead, accept } from "./operator/accept.ts";
import { type BirthOrder, birth } from "./operator/birth.ts";
import { reseal } from "./operator/reseal.ts";
import { listPins, vouch } from "./operator/vouch.ts";
import { createDraws, type Draws } from "./secrets/draws.ts";
import {
  createKeyring,
  deploymentName,
  type Keyring,
  openKeyringWith,
  type RootKeys,
  versionOfCurrent,
} from "./secrets/keyring.ts";
import { createSealer } from "./secrets/seal.ts";

export type Orders = {
  adoptUnknown: boolean;
  acceptDatabase: boolean;
  /** The root key is being replaced: boxes may be sealed anew. */
  reseal: boolean;
  /** The database is being checked: the signer says what in it is its own. */
  vouch: boolean;
  /** Limits that differ from the defaults. */
  limits: Readonly<Record<string, number>>;
  birth: BirthOrder;
};

export type Operations = { [K in MessageKind]: (request: Request<K>) => Reply<K> } & {
  /** The only one that can take long. `prepare` is the same in one go. */
  preparing(request: Request<"prepare">): Work<Reply<"prepare">>;
};

/** How many bytes of states are at hand: thousands of common ones, few of the largest. The gateway offers any other again. */
const maxHeadBytes = 48 * 1024 * 1024;

/** A statement of released leaves goes out in pages, so that gaps between numbers cannot make it too long to send. */
const rangesPerPage = 50_000;

/** A deployment's first root key. */
const firstKeyVersion = 1;

export function createOperations(
  rootKeys: RootKeys,
  memory: Memory,
  orders: Orders,
  clock: () => number,
  note: (message: string) => void,
  /** The deployment is joined: whoever starts the signer hears its public keys from itself. */
  announce: (publicKeys: Keyring["publicKeys"]) => void = () => undefined,
  /** For those who execute a log anew; the signer that serves draws for itself. */
  drawsOf: (keyring: Keyring) => Draws = createDraws,
): Operations {
  const limits = withLimits(orders.limits);
  const boot = new Uint8Array(randomBytes(16));
  let signer: Signer | undefined;
  let number = 0;
  let isBehind = false;
  const acceptedHeads: AcceptedHead[] = [];

  function now(): number {
    const nowMs = clock();
    const behindMs = memory.lastTimeMs - nowMs;
    if (behindMs > clockToleranceMs) {
      const behind =
        `clock is ${Math.round(behindMs / 1000)} s behind the last time it has seen; ` +
        "nothing is signed until it is right, or until the operator runs `npx keystead accept-clock`";
      if (!isBehind) note(`its ${behind}`);
      isBehind = true;
      throw new Fault("unavailable", `the signer's ${behind}`);
    }
    if (isBehind) note("its clock is no longer behind");
    isBehind = false;
    return nowMs;
  }

  function join(sealedKeyring: Uint8Array): Signer {
    const { current, retiring } = rootKeys;
    const sealer = createSealer(current, versionOfCurrent(rootKeys, sealedKeyring), retiring);
    const keyring = openKeyringWith(sealer, sealedKeyring);
    const known = memory.deploymentId;
    if (known !== undefined && digestKey(known) !== digestKey(keyring.deploymentId)) {
      throw new Fault(
        "failed_precondition",
        `this signer's memory belongs to deployment ${uuidFromBytes(known)}, the database to ${deploymentName(keyring)}`,
      );
    }
    // Before it prepares anything: what it prepares counts only once it is released here.
    if (!memory.knowsBoot(boot)) memory.rememberBoot(boot);
    const line = createLine(keyring.authenticity);
    return {
      boot,
      curves: nodeCurves,
      limits,
      keyring,
      draws: drawsOf(keyring),
      memory,
      line,
      heads: createLru<OpenState>(maxHeadBytes),
      journals: createJournalCache(),
      records: createRecordCache(keyring.authenticity),
      interfaces: createInterfaceCache(),
      adoptUnknown: orders.adoptUnknown,
      sealer,
      onItsWay: createOnItsWay(),
      nextNumber: () => {
        number += 1;
        return number;
      },
      now,
      note,
    };
  }

  /**
   * Joining a deployment that others run. One that was born here is not adopted: its birth may never be committed, or
   * another's may come first, and a memory of it would then refuse the database for ever. Its first release remembers it.
   */
  function adopt({ keyring }: Signer): void {
    if (!orders.adoptUnknown || memory.deploymentId !== undefined || memory.wasBornHere(keyring.deploymentId)) return;
    note(`this signer is new to deployment ${deploymentName(keyring)} and takes its database as found`);
    memory.rememberDeployment(keyring.deploymentId);
  }

  function joined(): Signer {
    if (signer === undefined) throw new Fault("unavailable", "the signer has no deployment yet");
    return signer;
  }

  /** A memory that has lost everything would believe any history, so it needs the operator's word first. */
  function mayRelease(): boolean {
    return (
      memory.deploymentId !== undefined || (signer !== undefined && memory.wasBornHere(signer.keyring.deploymentId))
    );
  }

  function releasing(): Signer {
    const current = joined();
    if (!mayRelease()) throw forgotten();
    return current;
  }

  /** Before a deployment's birth is released, there is nothing to decide on. */
  function remembering(): Signer {
    const current = joined();
    if (memory.deploymentId === undefined) throw forgotten();
    return current;
  }

  function checking(): Signer {
    if (!orders.vouch) throw new Fault("permission_denied", "the operator did not order to check the database");
    return remembering();
  }

  return {
    hello({ protocol, keyring }) {
      if (protocol !== protocolVersion)
        throw new Fault("failed_precondition", `protocol ${protocol} is not ${protocolVersion}`);
      if (keyring !== undefined) {
        signer = join(keyring);
        adopt(signer);
        announce(signer.keyring.publicKeys);
      }
      return {
        remembers: mayRelease(),
        publicKeys: signer === undefined ? "" : JSON.stringify(signer.keyring.publicKeys),
      };
    },
    birth() {
      if (memory.deploymentId !== undefined) {
        throw new Fault(
          "failed_precondition",
          `the database is empty, but this signer remembers deployment ${uuidFromBytes(memory.deploymentId)}: ` +
            `is DATABASE_URL ${orders.adoptUnknown ? "right" : "missing"}? Else restore the database, or start with a new data folder`,
        );
      }
      const sealedKeyring = createKeyring(rootKeys.current, firstKeyVersion);
      signer = join(sealedKeyring);
      memory.rememberBirth(signer.keyring.deploymentId);
      return birth(signer, orders.birth, sealedKeyring);
    },
    prepare: (request) => finish(prepare(remembering(), request)),
    preparing: (request) => prepare(remembering(), request),
    release: (request) => release(releasing(), request),
    statement({ page }) {
      const { keyring } = remembering();
      const ranges = memory.released();
      const pages = Math.max(1, Math.ceil(ranges.length / rangesPerPage));
      const statement = encodeStatement({
        deploymentId: keyring.deploymentId,
        timeMs: now(),
        page,
        pages,
        ranges: ranges.slice(page * rangesPerPage, (page + 1) * rangesPerPage),
      });
      return { statement, signature: keyring.signWithLogKey(statementMessage(statement)) };
    },
    vouch: (request) => vouch(checking(), request),
    pins: ({ page }) => listPins(checking(), page),
    accept(request) {
      if (!orders.acceptDatabase)
        throw new Fault("permission_denied", "the operator did not order to accept the database");
      return accept(joined(), acceptedHeads, orders.birth.organizationId, request);
    },
    reseal(request) {
      if (!orders.reseal) throw new Fault("permission_denied", "the operator did not order to replace the root key");
      return reseal(joined(), request);
    },
  };
}

function forgotten(): Fault {
  return new Fault("unavailable", "the signer remembers no deployment; run `npx keystead accept-database`");
}
