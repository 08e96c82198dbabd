/** The signer's few operations behind their frames. It exists once per process and joins one gateway. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { encodeStatement, statementMessage } from "@keystead/core/log/released.ts";
import { finish, type Work } from "@keystead/core/work.ts";
import { withLimits } from "../endpoints/limits.ts";
import { protocolVersion } from "../frames/frame.ts";
import type { MessageKind, Reply, Request } from "../frames/messages.ts";
import { createBoot, type Measured } from "./attestation/boot.ts";
import { openProofs } from "./decision/app_proofs.ts";
import { openBodies } from "./decision/body_boxes.ts";
import { prepare } from "./decision/prepare.ts";
import { release } from "./decision/release.ts";
import type { Signer } from "./decision/signer.ts";
import { adopt, createDeployment, type Deployment } from "./deployment.ts";
import { createLogOperations } from "./log_operations.ts";
import type { Memory } from "./memory/memory.ts";
import { type AcceptedHead, accept } from "./operator/accept.ts";
import { type BirthOrder, birth } from "./operator/birth.ts";
import { reseal } from "./operator/reseal.ts";
import { listPins, vouch } from "./operator/vouch.ts";
import { createDraws, type Draws } from "./secrets/draws.ts";
import { createKeyring, type Keyring, type RootKeys } from "./secrets/keyring.ts";
import { createSignerClock } from "./signer_clock.ts";

export type Orders = {
  adoptUnknown: boolean;
  /** For development: some contacts have a one-time code that everybody knows. */
  hasSandboxCodes?: boolean;
  /** One-time codes whose client has a target bundle may be answered in the plain. */
  allowsPlainAnswers?: boolean;
  /** Issuers of identity tokens whose word about an e-mail address counts as that of its owner. */
  linkingIssuers?: readonly string[];
  /** The name that our own identity tokens have as their issuer. Without one there are none. */
  ownIssuer?: string;
  /** The operator has a captcha provider. */
  hasCaptcha?: boolean;
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
  /** The deployment is joined: the process that starts the signer hears of its keys from itself. */
  announce: (keyring: Keyring) => void = () => undefined,
  /** For those who execute a log anew; the signer that serves draws for itself. */
  drawsOf: (keyring: Keyring) => Draws = createDraws,
  /** What this process runs; nothing is known of one that only tests or executes a log anew. */
  measured: Measured = { loadedFiles: new Uint8Array(), args: [] },
): Operations {
  const limits = withLimits(orders.limits);
  const now = createSignerClock(memory, clock, note);
  const { adoptUnknown, hasSandboxCodes = false, allowsPlainAnswers = false, hasCaptcha = false } = orders;
  const chosen = {
    hasSandboxCodes,
    allowsPlainAnswers,
    hasCaptcha,
    linkingIssuers: new Set(orders.linkingIssuers ?? []),
    ownIssuer: orders.ownIssuer,
  };
  const parts = { rootKeys, memory, limits, adoptUnknown, ...chosen, now, note, drawsOf };
  const deployment = createDeployment(parts);
  const boot = createBoot(measured, orders.birth.organizationId);
  return {
    hello({ protocol, keyring }) {
      if (protocol !== protocolVersion)
        throw new Fault("failed_precondition", `protocol ${protocol} is not ${protocolVersion}`);
      if (keyring !== undefined) {
        const signer = deployment.join(keyring);
        adopt(signer);
        announce(signer.keyring);
      }
      const publicKeys = deployment.current?.keyring.publicKeys;
      return {
        remembers: deployment.mayRelease(),
        publicKeys: publicKeys === undefined ? "" : JSON.stringify(publicKeys),
      };
    },
    birth() {
      refuseSecondBirth(memory, adoptUnknown);
      const sealedKeyring = createKeyring(rootKeys.current, firstKeyVersion);
      const signer = deployment.join(sealedKeyring);
      memory.rememberBirth(signer.keyring.deploymentId);
      return birth(signer, orders.birth, sealedKeyring);
    },
    prepare: (request) => finish(prepare(deployment.remembering(), request)),
    preparing: (request) => prepare(deployment.remembering(), request),
    openBodies: (request) => openBodies(deployment.remembering(), request),
    openProofs: (request) => openProofs(deployment.remembering(), request),
    release: (request) => release(deployment.releasing(), request),
    statement: ({ page }) => stateReleased(deployment.remembering(), page),
    ...operatorsOperations(deployment, orders),
    ...createLogOperations(deployment, orders.birth.organizationId),
    boot: () => boot(deployment.remembering()),
  };
}

/** Each needs the order of the operator that it is for; a gateway alone cannot have it done. */
function operatorsOperations(
  deployment: Deployment,
  orders: Orders,
): Pick<Operations, "vouch" | "pins" | "accept" | "reseal"> {
  const acceptedHeads: AcceptedHead[] = [];

  function checking(): Signer {
    if (!orders.vouch) throw new Fault("permission_denied", "the operator did not order to check the database");
    return deployment.remembering();
  }

  return {
    vouch: (request) => vouch(checking(), request),
    pins: ({ page }) => listPins(checking(), page),
    accept(request) {
      if (!orders.acceptDatabase)
        throw new Fault("permission_denied", "the operator did not order to accept the database");
      return accept(deployment.joined(), acceptedHeads, orders.birth.organizationId, request);
    },
    reseal(request) {
      if (!orders.reseal) throw new Fault("permission_denied", "the operator did not order to replace the root key");
      return reseal(deployment.joined(), request);
    },
  };
}

function refuseSecondBirth({ deploymentId }: Memory, adoptUnknown: boolean): void {
  if (deploymentId === undefined) return;
  throw new Fault(
    "failed_precondition",
    `the database is empty, but this signer remembers deployment ${uuidFromBytes(deploymentId)}: ` +
      `is DATABASE_URL ${adoptUnknown ? "right" : "missing"}? Else restore the database, or start with a new data folder`,
  );
}

function stateReleased({ keyring, memory, now }: Signer, page: number): Reply<"statement"> {
  const pages = Math.max(1, Math.ceil(memory.releasedCount / rangesPerPage));
  const statement = encodeStatement({
    deploymentId: keyring.deploymentId,
    timeMs: now(),
    page,
    pages,
    ranges: memory.released(page * rangesPerPage, rangesPerPage),
  });
  return { statement, signature: keyring.signWithLogKey(statementMessage(statement)) };
}
