/** The parent's list of origins, against what a browser reports of its page. */
import assert from "node:assert/strict";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import type { Flow } from "./flow.ts";
import type { HttpClientSteps } from "./page/http_client.ts";

export const originsFlow: Flow = async (t, { keystead, parentId, origin, open }) => {
  const page = await open<HttpClientSteps>(t, "http_client");
  const { organizationId } = await page.run("register");
  const { baseUrl, apiPublicKey, apiPrivateKey } = keystead.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const parent = createClient({ baseUrl, organizationId: parentId, stamper });

  await parent.updateAllowedOrigins({ allowedOrigins: ["https://app.example.com", origin] });
  assert.equal((await page.run("whoamiByPasskey")).organizationId, organizationId);
  assert.match(await page.run("logIn"), /^ey/);

  // The same host and another port is another origin.
  await parent.updateAllowedOrigins({ allowedOrigins: ["http://localhost:1"] });
  for (const step of ["whoamiByPasskey", "logIn"] as const) {
    assert.match((await page.refusal(step)).message, /could not verify WebAuthN signature/);
  }
  // A session that was made before is a key, and keys have no origin.
  assert.equal((await page.run("whoami", organizationId)).organizationId, organizationId);

  await parent.updateAllowedOrigins({ allowedOrigins: [] });
  assert.match((await page.refusal("whoamiByPasskey")).message, /could not verify WebAuthN signature/);
  await parent.updateAllowedOrigins({ allowedOrigins: ["*"] });
  assert.equal((await page.run("whoamiByPasskey")).organizationId, organizationId);
};
