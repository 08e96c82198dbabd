import { nodeRs256 } from "../../test/webauthn/node_passkey_crypto.ts";
import { testRs256Contract } from "../../test/webauthn/rs256_contract.ts";

testRs256Contract("node", nodeRs256);
