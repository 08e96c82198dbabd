import { testHpkeContract } from "../../../core/test/hpke_contract.ts";
import { nodeHpke } from "./node_hpke.ts";

testHpkeContract("node", nodeHpke);
