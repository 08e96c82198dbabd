/**
 * Where leaves stand in the signer's log, on their way into the database. The signer says each place once, with the release that gave it. A
 * place whose reply was lost is asked for again before anything behind it is stored: what is stored has no gap, so after a crash the rest
 * is simply what follows.
 */

import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { peekName } from "@keystead/core/log/leaf.ts";
import type { Reply, Request } from "../../frames/messages.ts";
import type { PlacedLeaf, PlacedLeaves } from "../../store/log_rows.ts";
import type { SignerLink } from "../link/signer_link.ts";

/** `isReady` is false while a place is lacking, or others are being written: marks must wait with them. */
export type TakenPlaces = { isReady: boolean; placed: PlacedLeaves | undefined };

const nothing: TakenPlaces = { isReady: true, placed: undefined };
const notYet: TakenPlaces = { isReady: false, placed: undefined };

export class LogPlaces {
  readonly #link: Pick<SignerLink, "request">;
  readonly #onLost: (logId: string, from: number, to: number) => void;
  #logId: string | undefined;
  /** Everything below is stored. */
  #stored = 0;
  /** Everything from there to here is known. */
  #end = 0;
  readonly #known = new Map<number, PlacedLeaf>();
  /** How many are known behind a gap. */
  #beyond = 0;
  /** The signer may have appended what was never heard of here. */
  #isBehind = false;
  #writing: PlacedLeaves | undefined;
  #catchingUp: Promise<void> | undefined;

  /** `onLost`: positions that neither the database nor the signer has any more; the last is not one of them. */
  constructor(
    link: Pick<SignerLink, "request">,
    onLost: (logId: string, from: number, to: number) => void = () => undefined,
  ) {
    this.#link = link;
    this.#onLost = onLost;
  }

  /** The log that places are kept of; undefined before a signer has joined. */
  get logId(): string | undefined {
    return this.#logId;
  }

  /** The position behind the last one that is stored. */
  get stored(): number {
    return this.#stored;
  }

  /** The same link, whose releases are listened to, whoever asks for them. */
  watch(link: SignerLink): SignerLink {
    const request = async (kind: "release", message: Request<"release">): Promise<Reply<"release">> => {
      try {
        const replies = await link.request(kind, message);
        this.#note(message, replies);
        return replies;
      } catch (error) {
        // It may have been carried out all the same.
        this.#isBehind = true;
        throw error;
      }
    };
    return {
      request: ((kind, message, turn) =>
        kind === "release"
          ? request(kind, message as Request<"release">)
          : link.request(kind, message, turn)) as SignerLink["request"],
      preparing: () => link.preparing(),
      queuedBytes: () => link.queuedBytes(),
      attach: (socket) => link.attach(socket),
      close: () => link.close(),
    };
  }

  /** A signer has joined, whose log has `size` entries, of which the database has those below `stored`. */
  begin(logId: string, stored: number, size: number): void {
    this.#isBehind = true;
    if (this.#logId === logId && this.#end <= size) return;
    this.#logId = logId;
    this.restart(stored);
  }

  /** Everything from this position on is asked for anew. */
  restart(stored: number): void {
    this.#isBehind = true;
    this.#known.clear();
    this.#beyond = 0;
    this.#stored = stored;
    this.#end = stored;
    this.#writing = undefined;
  }

  /** A leaf was released before, and its place came with another reply. */
  fallBehind(): void {
    this.#isBehind = true;
  }

  /** Notes places that came by another way than a release. */
  add(leaf: PlacedLeaf): void {
    const { position } = leaf;
    if (this.#logId === undefined || position < this.#end || this.#known.has(position)) return;
    this.#known.set(position, leaf);
    this.#beyond += 1;
    this.#advance();
  }

  /** What is to be stored next, until `written` or `failed` is told. */
  take(): TakenPlaces {
    const logId = this.#logId;
    if (logId === undefined) return nothing;
    if (this.#writing !== undefined) return notYet;
    if (this.#isBehind || this.#beyond > 0) {
      this.catchUp().catch(() => undefined);
      return notYet;
    }
    if (this.#known.size === 0) return nothing;
    this.#writing = { logId, leaves: [...this.#known.values()].sort((a, b) => a.position - b.position) };
    return { isReady: true, placed: this.#writing };
  }

  written(placed: PlacedLeaves | undefined): void {
    if (placed === undefined || placed !== this.#writing) return;
    this.#writing = undefined;
    for (const { position } of placed.leaves) {
      this.#known.delete(position);
      this.#stored = position + 1;
    }
  }

  failed(placed: PlacedLeaves | undefined): void {
    if (placed === this.#writing) this.#writing = undefined;
  }

  /** Asks for everything that was appended and never heard of. */
  catchUp(): Promise<void> {
    if (this.#logId === undefined || (!this.#isBehind && this.#beyond === 0)) return Promise.resolve();
    this.#catchingUp ??= this.#askForTail().finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  async #askForTail(): Promise<void> {
    const logId = this.#logId ?? "";
    this.#isBehind = false;
    try {
      for (;;) {
        const from = this.#end;
        const tail = await this.#link.request("logTail", { from });
        if (logId !== this.#logId) return;
        this.#takeTail(logId, tail);
        if (this.#end >= tail.size) return;
        if (this.#end === from) throw new Fault("unavailable", "the signer's log has no end; try again");
      }
    } catch (error) {
      this.#isBehind = true;
      throw error;
    }
  }

  #takeTail(logId: string, { size, first, leaves }: Reply<"logTail">): void {
    if (first > this.#end && first <= size) {
      this.#onLost(logId, this.#end, first);
      this.#end = first;
      this.#advance();
    }
    for (const [index, { organizationId, boot, number, ordinal, entry }] of leaves.entries()) {
      this.add({
        ...{ organizationId: uuidFromBytes(organizationId), boot: toHex(boot), number },
        ...{ position: first + index, ordinal, entry: Uint8Array.from(entry) },
      });
    }
  }

  #note({ rows }: Request<"release">, replies: Reply<"release">): void {
    for (const [index, reply] of replies.entries()) {
      if (reply.kind !== "released" || reply.value.place === undefined) continue;
      const name = peekName(rows[index]?.leaf ?? new Uint8Array());
      if (name === undefined) continue;
      const { position, ordinal, entry } = reply.value.place;
      this.add({
        ...{ organizationId: uuidFromBytes(name.organizationId), boot: toHex(name.boot), number: name.number },
        ...{ position, ordinal, entry: Uint8Array.from(entry) },
      });
    }
  }

  #advance(): void {
    while (this.#known.has(this.#end)) {
      this.#end += 1;
      this.#beyond -= 1;
    }
  }
}
