import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { testRs256Contract } from "../../test/webauthn/rs256_contract.ts";

testRs256Contract("node", nodeCurves);
