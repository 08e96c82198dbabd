import { webcrypto } from "node:crypto";
import { testHpkeContract } from "../../test/hpke_contract.ts";
import { createWebHpke } from "./hpke_web.ts";

testHpkeContract("web", createWebHpke(webcrypto.subtle));
