import { testCurvesContract } from "../../test/curves_contract.ts";
import { testSignatureVectors } from "../../test/signature_vectors.ts";
import { nobleCurves } from "./noble_curves.ts";

testSignatureVectors("noble", nobleCurves);
testCurvesContract("noble", nobleCurves);
