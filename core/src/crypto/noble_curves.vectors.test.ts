import { testCurvesContract } from "../../test/curves_contract.ts";
import { testSignatureVectors } from "../../test/signature_vectors.ts";
import { testCurves } from "../../test/test_curves.ts";

testSignatureVectors("noble", testCurves);
testCurvesContract("noble", testCurves);
