import { testKeyMathsContract } from "../../test/key_maths_contract.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";

testKeyMathsContract("noble", nobleKeyMaths);
