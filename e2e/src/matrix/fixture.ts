/** What a case of the matrix plays with: its stage, and requests that are held against the published document on their way. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { activities } from "../generated/endpoints.ts";
import { type KeyPair, schemeOf } from "../key_pairs.ts";
import type { Spelling } from "../swagger/differences.ts";
import type { Traffic } from "../swagger/traffic.ts";
import { type Answer, assertAccepted, bytesOf, type Headers, publishedClient, send } from "../wire.ts";
import type { Person } from "../world.ts";
import type { Place, Stage } from "./stage.ts";

export type Json = Answer["json"];

export type Kind = "submit" | "query";

export type Sent = {
  kind: Kind;
  path: string;
  /** A text or an object. */
  body: unknown;
  /** No stamp without it. */
  key?: KeyPair;
  /** A read-only session, instead of any stamp. */
  session?: string;
  /** Instead of the stamp the key would make. */
  stamp?: string;
  /** What a caller, or a proxy, adds as `X-Forwarded-For`. */
  forwardedFor?: string;
  spelling?: Spelling;
  /** Not held against the published document. */
  isMalformed?: boolean;
};

export type Fixture = Stage & {
  /** Where the endpoint in question runs. */
  place: Place;
  traffic: Traffic;
  /** Of the server. */
  url: string;
  send(sent: Sent): Promise<Answer>;
  /** An activity in the place, by one of its root users unless told. */
  submit(path: ActivityPath, parameters: object, caller?: Person, at?: Place): Promise<Answer>;
  /** The result of an activity that must succeed. */
  done(path: ActivityPath, parameters: object, caller?: Person, at?: Place): Promise<Json>;
  /** The answer to a query that must succeed. */
  ask(path: string, parameters?: object, caller?: Person, at?: Place): Promise<Json>;
};

export type ActivityPath = keyof typeof activities;

export function createFixture(url: string, traffic: Traffic, stage: Stage, place: Place): Fixture {
  const fixture: Fixture = {
    ...stage,
    place,
    traffic,
    url,
    async send({ kind, path: name, body, key, stamp, session, forwardedFor, spelling = "own", isMalformed = false }) {
      const path = `/public/v1/${kind}/${name}`;
      const headers: Headers = [
        ["Content-Type", "application/json"],
        ...(key === undefined ? [] : [["X-Stamp", stamp ?? stampFor(key, body)] as const]),
        ...(session === undefined ? [] : [["X-Session", session] as const]),
        ...(forwardedFor === undefined ? [] : [["X-Forwarded-For", forwardedFor] as const]),
        ...(spelling === "published" ? publishedClient : []),
      ];
      const answer = await send(url, { path, headers, body: bytesOf(body) });
      traffic.note({ path, body, isMalformed, spelling, answer });
      return answer;
    },
    submit: (path, parameters, caller = place.root, at = place) =>
      fixture.send({
        kind: "submit",
        path,
        key: caller.p256,
        body: envelope(activities[path].type, at.organizationId, parameters),
      }),
    async done(path, parameters, caller, at) {
      const answer = await fixture.submit(path, parameters, caller, at);
      assertAccepted(answer);
      const { status, result } = answer.json.activity;
      assert.equal(status, "ACTIVITY_STATUS_COMPLETED", answer.text);
      return result[activities[path].resultKey];
    },
    async ask(path, parameters = {}, caller = place.root, { organizationId } = place) {
      const answer = await fixture.send({
        kind: "query",
        path,
        key: caller.p256,
        body: { organizationId, ...parameters },
      });
      assertAccepted(answer);
      return answer.json;
    },
  };
  return fixture;
}

const stamps = new Map<string, string>();

/** Stamps are deterministic, and much the same is asked again and again. */
function stampFor(key: KeyPair, body: unknown): string {
  const bytes = bytesOf(body);
  const name = `${key.publicKey} ${fingerprintOf(bytes)}`;
  const stamp = stamps.get(name) ?? signStamp(key.privateKey, schemeOf[key.curve], bytes);
  stamps.set(name, stamp);
  return stamp;
}

export type Envelope = { type: string; timestampMs: string; organizationId: string; parameters: Json };

let lastMs = 0;

/** Never the same time twice: equal bytes are one activity. */
export function envelope(type: string, organizationId: string, parameters: object): Envelope {
  lastMs = Math.max(lastMs + 1, Date.now());
  return { type, timestampMs: String(lastMs), organizationId, parameters };
}

export function fingerprintOf(body: unknown): string {
  return digestOf(bytesOf(body));
}

export function digestOf(data: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
