/** noble for tests of `core`, with the only Ed25519 verification that there is: the server's (decision 0037). */
import { nodeCurves } from "../../server/src/curves/node_curves.ts";
import type { Curves } from "../src/crypto/curves.ts";
import { nobleCurves } from "../src/crypto/noble_curves.ts";

const { verifyEd25519, verifyRs256, uncompressP256 } = nodeCurves;

export const testCurves: Curves = { ...nobleCurves, verifyEd25519, verifyRs256, uncompressP256 };
