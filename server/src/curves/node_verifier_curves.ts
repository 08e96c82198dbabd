/** What checking a log takes: stamps of every kind, and tokens. */
import type { VerifierCurves } from "@keystead/core/log/verify/check_token.ts";
import { nodeCurves } from "./node_curves.ts";
import { nodeTokenCrypto } from "./node_token_crypto.ts";

export const nodeVerifierCurves: VerifierCurves = { ...nodeCurves, ...nodeTokenCrypto };
