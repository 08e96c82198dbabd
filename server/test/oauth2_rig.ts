/** Sign-ins at OAuth 2.0 providers in tests. */
import type { startOauth2Provider } from "../../core/test/oauth2_provider.ts";
import { createFetchJson } from "../src/courier/fetch/fetch_json.ts";
import { createExchanges } from "../src/courier/oauth2/exchanges.ts";
import { type CourierOrders, createCourierOrders } from "../src/gateway/link/courier_orders.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import type { GatewayRig } from "./gateway_rig.ts";

type TestProvider = Awaited<ReturnType<typeof startOauth2Provider>>;

/** The courier in this process; without a provider, one that none is configured for. */
export function courierOf(rig: GatewayRig, provider: TestProvider | undefined): CourierOrders {
  const { courierKey } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const { exchange } = createExchanges({
    courierKey,
    fetchJson: createFetchJson({ egress: "loopback" }),
    providers: new Map(provider === undefined ? [] : [["OAUTH2_PROVIDER_ALPHA", provider.addresses]]),
    now: () => rig.signer.clock.nowMs,
    note: () => undefined,
  });
  const courier = {
    isJoined: () => true,
    whenJoined: () => Promise.resolve(),
    request: ((_kind: string, request: never) => exchange(request)) as never,
  };
  return createCourierOrders({ courier, needCourier: () => undefined });
}
