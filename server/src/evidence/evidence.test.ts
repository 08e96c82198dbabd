import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeptEvidenceKind, SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { type StampScheme, stampSchemes } from "@keystead/core/crypto/stamp.ts";
import { stampEvidence } from "../../test/evidence.ts";
import { apiKey } from "../../test/members.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { credentialLookup, lookupText } from "../state/credentials.ts";
import {
  evidenceHeaders,
  evidenceOfVote,
  keptEvidence,
  kindOfHeader,
  lookupOf,
  parseEvidence,
  shownEvidence,
  verifyEvidence,
} from "./evidence.ts";

const secret = new Uint8Array(32).fill(5);
const body = Buffer.from('{"organizationId":"x"}');
const schemes = Object.keys(stampSchemes) as StampScheme[];
const stamped = (scheme: StampScheme) => stampEvidence(signStamp(secret, scheme, body));
const read = (scheme: StampScheme) => parseEvidence(nodeCurves, stamped(scheme));
const credential = { credentialId: "key" };

test("each kind has a header of its own in lower case, and a header that is still to come is read as none", () => {
  assert.equal(new Set(evidenceHeaders).size, evidenceHeaders.length);
  for (const header of evidenceHeaders) assert.equal(header, header.toLowerCase());
  assert.equal(kindOfHeader("x-stamp"), "apiKey");
  assert.equal(kindOfHeader("x-session"), "readOnlySession");
  for (const header of ["x-stamp-webauthn", "x-stamp-attested"]) {
    assert.ok(evidenceHeaders.includes(header), header);
    assert.equal(kindOfHeader(header), undefined);
  }
});

test("evidence names its credential as state does, by curve and key and never by scheme", () => {
  for (const scheme of schemes) {
    const { publicKey } = shownEvidence(stamped(scheme));
    const { curve } = stampSchemes[scheme];
    const kept = { kind: "apiKey", entity: apiKey(0, { curve, publicKey }) } as const;
    assert.equal(lookupText(lookupOf(read(scheme))), credentialLookup(kept), scheme);
  }
});

test("evidence verifies for the bytes it was given for and for no others", () => {
  for (const scheme of schemes) {
    assert.equal(verifyEvidence({ curves: nodeCurves, credential }, read(scheme), body), true, scheme);
    const other = Buffer.from('{"organizationId":"y"}');
    assert.equal(verifyEvidence({ curves: nodeCurves, credential }, read(scheme), other), false, scheme);
  }
});

/** Evidence of each kind that is kept: a kind without any does not compile. */
const samples: { readonly [K in KeptEvidenceKind]: readonly SentEvidence<K>[] } = { apiKey: schemes.map(stamped) };

test("a stored vote tells by its scheme which kind of evidence it was given with", () => {
  for (const [kind, some] of Object.entries(samples)) {
    assert.ok(some.length > 0, kind);
    for (const sent of some) {
      assert.equal(sent.kind, kind);
      assert.equal(evidenceOfVote(shownEvidence(sent)).kind, kind);
    }
  }
});

test("from what a vote shows, anyone reads the evidence that the leaf keeps", () => {
  for (const sent of Object.values(samples).flat()) {
    const again = parseEvidence(nodeCurves, evidenceOfVote(shownEvidence(sent)));
    assert.deepEqual(keptEvidence(again), keptEvidence(parseEvidence(nodeCurves, sent)), sent.kind);
  }
});
