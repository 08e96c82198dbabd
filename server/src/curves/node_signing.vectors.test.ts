import { testSigningContract } from "../../../core/test/signing_contract.ts";
import { nodeSigning } from "./node_signing.ts";

testSigningContract("node", nodeSigning);
