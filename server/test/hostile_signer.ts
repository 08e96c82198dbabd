/**
 * A signer in a process of its own, started as the launcher starts it, with its permissions and its memory folder. The socket that
 * a gateway would have is the test's: it sends what it likes, whole frames or torn ones, and sees every byte that comes back.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { decode, type Layout } from "@keystead/core/encoding/layout.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import { p256 } from "@noble/curves/nist.js";
import { patienceMs } from "../../core/test/patience.ts";
import { encodeFrame, type Frame } from "../src/frames/frame.ts";
import { createFrameReader } from "../src/frames/frame_reader.ts";
import { faultMessage, type MessageKind, messages, type Reply, type Request } from "../src/frames/messages.ts";
import type { SignerLink } from "../src/gateway/link/signer_link.ts";
import { keysteadCode } from "../src/launcher/code.ts";
import { parseSignerMessage } from "../src/launcher/process_messages.ts";
import { processes } from "../src/launcher/processes.ts";
import { encodeOrders, type SignerOrders } from "../src/launcher/signer_orders.ts";
import { type StartedProcess, startProcess } from "../src/launcher/start_process.ts";

/** One exchange, as it went over the socket. */
export type Exchange = { [K in MessageKind]: { kind: K; request: Request<K>; reply: Reply<K> } }[MessageKind];

export type HostileSigner = {
  readonly orders: SignerOrders;
  readonly rootKey: Uint8Array;
  /** The private key of the first user. */
  readonly apiPrivateKey: Uint8Array;
  /** What it told the launcher. */
  readonly notes: string[];
  /** Requests and replies of whoever used `link`, while it is recorded. */
  readonly recorded: Exchange[];
  /** For a real gateway's code. It goes on over restarts. */
  readonly link: SignerLink;
  /** Sends one request; the raw reply. */
  ask(kind: MessageKind, message: unknown): Promise<Frame>;
  /** Bytes as they are. */
  write(bytes: Uint8Array): void;
  /** A frame that answers this id; undefined when the socket closes or `timeoutMs` pass first. */
  frame(id: number, timeoutMs?: number): Promise<Frame | undefined>;
  /** Everything that arrived since this was asked for last. */
  received(): Frame[];
  isUp(): boolean;
  /** Ends the process and starts another on the same memory. */
  restart(changed?: Partial<SignerOrders>): Promise<void>;
};

type StartedSigner = StartedProcess & { joint: Socket; control: Socket };

const answerWithinMs = patienceMs;

export function startHostileSigner(t: TestContext): HostileSigner {
  const rootKey = new Uint8Array(randomBytes(32));
  const apiPrivateKey = p256.utils.randomSecretKey();
  const folder = mkdtempSync(join(tmpdir(), "keystead-hostile-"));
  const orders: SignerOrders = {
    memoryFolder: folder,
    adoptUnknown: false,
    acceptDatabase: false,
    reseal: false,
    vouch: false,
    resetClock: false,
    limits: {},
    hasSandboxCodes: false,
    allowsPlainAnswers: false,
    linkingIssuers: [],
    hasCaptcha: false,
    birth: {
      organizationId: uuidFromBytes(randomBytes(16)),
      organizationName: "First",
      userId: uuidFromBytes(randomBytes(16)),
      userName: "Root",
      apiPublicKey: toHex(p256.getPublicKey(apiPrivateKey)),
      authProxy: { configId: uuidFromBytes(randomBytes(16)), userId: uuidFromBytes(randomBytes(16)) },
    },
  };
  const notes: string[] = [];
  const recorded: Exchange[] = [];
  const code = keysteadCode();
  let nextId = 0;
  let frames: Frame[] = [];
  let wake: () => void = () => undefined;
  let current = start(orders);
  t.after(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(given: SignerOrders): StartedSigner {
    const hear = (value: unknown) => {
      const message = parseSignerMessage(value);
      if (message !== undefined && "message" in message) notes.push(message.message);
      if (message?.kind === "fatal") child.process.kill("SIGKILL");
      if (message?.kind === "renamed") child.tellSynced();
    };
    const { joint, control, ...child } = startProcess({
      row: processes.signer,
      program: code.signer,
      folder: given.memoryFolder,
      user: undefined,
      env: {},
      // No digest of Node: the proof of this start has no line for it.
      orders: [rootKey, encodeOrders(given), new Uint8Array(0)],
      linePrefix: "",
      hear,
    });
    if (joint === undefined || control === undefined) throw new Error("the signer could not be started");
    const started = { ...child, joint, control };
    const take = (frame: Frame) => {
      frames.push({ ...frame, payload: Uint8Array.from(frame.payload) });
      wake();
    };
    const read = createFrameReader(take, { takesParts: true });
    started.joint.on("data", (chunk: Buffer) => read(chunk));
    started.joint.on("close", () => wake());
    started.process.once("exit", () => wake());
    return started;
  }

  async function end(): Promise<void> {
    current.process.kill("SIGKILL");
    await current.gone;
    current.joint.destroy();
    current.control.destroy();
  }

  const isUp = () => !current.isGone() && !current.joint.destroyed;

  async function frame(id: number, timeoutMs = answerWithinMs): Promise<Frame | undefined> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const found = frames.find((each) => each.id === id);
      if (found !== undefined || !isUp() || Date.now() > until) return found;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(1, until - Date.now()));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async function ask(kind: MessageKind, message: unknown): Promise<Frame> {
    nextId += 1;
    const id = nextId;
    current.joint.write(encodeFrame(kind, id, messages[kind].request as Layout<unknown>, message));
    const found = await frame(id);
    if (found === undefined) throw new Error(`the signer did not answer ${kind}: ${notes.slice(-3).join("; ")}`);
    return found;
  }

  const link: SignerLink = {
    async request<K extends MessageKind>(kind: K, request: Request<K>): Promise<Reply<K>> {
      const found = await ask(kind, request);
      frames = frames.filter((each) => each !== found);
      if (found.kind === "fault") {
        const { code: name, message, errorCode, details } = decode(faultMessage, found.payload);
        throw new Fault(name as FaultCode, message, { errorCode, details: JSON.parse(details) });
      }
      const reply = decode(messages[kind].reply as unknown as Layout<Reply<K>>, found.payload);
      recorded.push({ kind, request, reply } as Exchange);
      return reply;
    },
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };

  return {
    orders,
    rootKey,
    apiPrivateKey,
    notes,
    recorded,
    link,
    ask,
    write: (bytes) => void current.joint.write(bytes),
    frame,
    received() {
      const taken = frames;
      frames = [];
      return taken;
    },
    isUp,
    async restart(changed = {}) {
      await end();
      frames = [];
      current = start({ ...orders, ...changed });
    },
  };
}
