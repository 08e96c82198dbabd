/** `eth.eip_7702_authorization`, from the authorization that is signed. */
import type { Authorization } from "../../crypto/eip7702.ts";
import { EvmText, type Struct } from "../values/values.ts";

/** The facts of an authorization. Chain 0 is every chain, and shows as 0. */
export function authorizationStruct({ address, chainId, nonce }: Authorization): Struct {
  return { address: new EvmText(address), chain_id: chainId, nonce };
}
