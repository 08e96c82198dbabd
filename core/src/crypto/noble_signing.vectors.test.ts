import { testSigningContract } from "../../test/signing_contract.ts";
import { nobleSigning } from "./noble_signing.ts";

testSigningContract("noble", nobleSigning);
