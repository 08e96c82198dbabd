import { testCurvesContract } from "../../../core/test/curves_contract.ts";
import { testSignatureVectors } from "../../../core/test/signature_vectors.ts";
import { nodeCurves } from "./node_curves.ts";

testSignatureVectors("node", nodeCurves);
testCurvesContract("node", nodeCurves);
