/**
 * The processes that the launcher starts, one row each. What a process may read, write and reach, which settings it sees and what it
 * inherits are in its row and nowhere else, so that a change of what a process may do is a change of this file.
 */
export const processNames = ["gateway", "signer", "courier"] as const;
export type ProcessName = (typeof processNames)[number];

/**
 * - `channel`: Node's own IPC channel. Only it can carry sockets, so the process that others are joined to has it.
 * - `joint`: a socket whose other end goes to the process in `joinedTo`. The launcher never reads it.
 * - `control`: a socket between this process and the launcher alone. Its orders arrive on it.
 */
export type Descriptor = "channel" | "joint" | "control";

/** What is written to a process at its start; `start.ts` says where each comes from. The name is used in messages. */
export type OrderName = "root key" | "signer orders" | "courier key" | "node digest";

export type ProcessRow = {
  /** Its user id when the launcher runs as root: the setting, and the id without it. No two processes may have the same. */
  userId: { setting: string; fallback: number };
  /** Its own folder in the data folder: the only one that it may write, and its working folder. */
  folder: "database" | "signer" | "outbox";
  /** Node's permission model follows links out of a folder it grants, so a process that makes none may not find one there. */
  refusesLinks: boolean;
  /** What it may read besides its folder: parts of `server/src`, packages, and other paths in the checkout. */
  code: { server: "all" | readonly string[]; packages: "all" | readonly string[]; others: readonly string[] };
  /** A module of its own that Node loads before its `main`. */
  preload?: string;
  /** Whether it may connect and listen. */
  network: boolean;
  /** It may start threads until it drops that, before it reads anything: a thread can have permissions that its process was not given. */
  startsThread?: true;
  /** Further flags of Node, beyond those that every process gets (`permissions.ts`). */
  flags: readonly string[];
  /** Every name that may be in its environment. The launcher sets some of them itself (`environment.ts`). */
  settings: readonly string[];
  /** `relayed`: through the launcher, line by line. `inherited`: the launcher's own output. */
  output: "relayed" | "inherited";
  /** From number 3 on. It inherits nothing else. */
  descriptors: readonly Descriptor[];
  /** Written to `control` at each start, each behind its length. */
  orders: readonly OrderName[];
  /** Written behind them when they are known: the start does not wait for them. */
  laterOrders?: readonly OrderName[];
  /**
   * The process that gets the other end of `joint`. Restarts go by it: this one is replaced alone when it ends, and ends when the one
   * that it is joined to does (decision 0001).
   */
  joinedTo: ProcessName | undefined;
  /** Asked to stop, it has this long before it is killed. */
  stopsWithinMs: number;
  /** The setting without which it is not started. Absent: it is always started. */
  onlyWith?: string;
  /** Started when the process that it is joined to first asks for it; from then on it is replaced like any other. */
  onDemand?: true;
};

export type ProcessTable = Readonly<Record<ProcessName, ProcessRow>>;

export const processes: ProcessTable = {
  gateway: {
    userId: { setting: "KEYSTEAD_GATEWAY_UID", fallback: 60801 },
    folder: "database",
    refusesLinks: false,
    code: { server: "all", packages: "all", others: ["dashboard/dist"] },
    network: true,
    startsThread: true,
    flags: ["--disable-warning=ExperimentalWarning"],
    // No PG*, NODE_* or proxy settings: DATABASE_URL says all there is to say about the database, and NODE_OPTIONS widens permissions.
    settings: [
      "DATABASE_URL",
      "KEYSTEAD_CAPTCHA_SITE_KEY",
      "KEYSTEAD_CHANNELS",
      "KEYSTEAD_CHECKPOINT_FILE",
      "KEYSTEAD_CONTACT_DAYS",
      "KEYSTEAD_DATABASE_FOLDER",
      "KEYSTEAD_HOST",
      "KEYSTEAD_IP_ALLOWLISTS",
      "KEYSTEAD_LIMITS",
      "KEYSTEAD_LINKING_ISSUERS",
      "KEYSTEAD_LOG",
      "KEYSTEAD_MODE",
      "KEYSTEAD_PROXY_BUDGETS",
      "KEYSTEAD_PROXY_PORT",
      "KEYSTEAD_PUBLIC_URL",
      "KEYSTEAD_TRUSTED_PROXIES",
      "KEYSTEAD_WITNESSES",
      "PORT",
    ],
    output: "relayed",
    descriptors: ["channel"],
    orders: [],
    joinedTo: undefined,
    stopsWithinMs: 5000,
  },
  // No network, no children, no worker, no addon, no database, no inspector, no eval. What each flag refuses is held by
  // signer_sandbox.test.ts.
  signer: {
    userId: { setting: "KEYSTEAD_SIGNER_UID", fallback: 60802 },
    folder: "signer",
    refusesLinks: true,
    // A package that is missing here cannot be loaded, however it got into the tree.
    code: {
      server: [
        "activities",
        "curves",
        "endpoints",
        "evidence",
        "fields",
        "frames",
        "generated/activities.ts",
        "generated/activity_validators.ts",
        "lockdown",
        "outbox",
        "rules",
        "signer",
        "state",
      ],
      packages: ["@noble", "@scure", "tiny-secp256k1", "uint8array-tools"],
      others: [],
    },
    // Notes what is loaded, for the boot proof.
    preload: "attestation/load_record",
    network: false,
    flags: [
      "--no-experimental-sqlite",
      "--no-experimental-ffi",
      "--no-addons",
      "--disallow-code-generation-from-strings",
      // Without it v8.setFlagsFromString("--trace-turbo-path=…") writes files anywhere; with it the process ends.
      "--freeze-flags-after-init",
      "--disable-proto=throw",
    ],
    settings: [],
    output: "inherited",
    descriptors: ["joint", "control"],
    orders: ["root key", "signer orders"],
    laterOrders: ["node digest"],
    joinedTo: "gateway",
    stopsWithinMs: 1000,
  },
  // Network, and no listener: `courier/no_listeners.ts` closes what Node's one permission for both leaves open. No database, no key but
  // that of sealed messages and statements. What is refused is held by courier_sandbox.test.ts.
  courier: {
    userId: { setting: "KEYSTEAD_COURIER_UID", fallback: 60803 },
    folder: "outbox",
    refusesLinks: true,
    code: { server: ["courier", "frames", "lockdown", "outbox", "state"], packages: ["nodemailer"], others: [] },
    network: true,
    flags: [
      // Of --allow-net, at the first message.
      "--disable-warning=ExperimentalWarning",
      "--no-experimental-sqlite",
      "--no-experimental-ffi",
      "--no-addons",
      "--disallow-code-generation-from-strings",
      "--freeze-flags-after-init",
      "--disable-proto=throw",
    ],
    settings: [
      "KEYSTEAD_CAPTCHA",
      "KEYSTEAD_CONTACT_DAYS",
      "KEYSTEAD_DEV_EGRESS",
      "KEYSTEAD_MAIL_FROM",
      "KEYSTEAD_OAUTH2_PROVIDERS",
      "KEYSTEAD_OIDC_ISSUERS",
      "KEYSTEAD_OUTBOX_FOLDER",
      "KEYSTEAD_SMS_TOKEN",
      "KEYSTEAD_SMS_URL",
      // Node reads it by itself, before the process may read nothing but its code and its folder.
      "NODE_EXTRA_CA_CERTS",
      "SMTP_URL",
    ],
    output: "relayed",
    descriptors: ["joint", "control"],
    orders: ["courier key"],
    joinedTo: "gateway",
    stopsWithinMs: 1000,
    onDemand: true,
  },
};

/** One value for each process. */
export function perProcess<T>(make: (name: ProcessName) => T): Record<ProcessName, T> {
  return Object.fromEntries(processNames.map((name) => [name, make(name)])) as Record<ProcessName, T>;
}

/** The processes that these settings ask for. */
export function startedProcesses(table: ProcessTable, env: Record<string, string | undefined>): ProcessName[] {
  return processNames.filter((name) => {
    const { onlyWith } = table[name];
    return onlyWith === undefined || Boolean(env[onlyWith]);
  });
}
