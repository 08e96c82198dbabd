/**
 * A web application with passkeys: serves its pages on localhost, and signs people up with the published server client. Its pages call
 * Keystead themselves, from another origin than Keystead's.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { type KeysteadPublicKeys, keysteadKeys } from "../../../examples/bundler_plugin/keystead_keys.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { rootOf } from "../published/clients.ts";
import type { NewAuthenticator, Settings, SignedUp } from "./page/application.ts";

/** One page for each client, named like its file in `page`: with the published clients exactly as they are, … */
const plainPages = [
  "http_client",
  "sdk_browser",
  "core_client",
  "auth_proxy",
  "external_wallet",
  "openid",
  "keystead_sdk",
] as const;

/** … or with our public keys in the place of the hosted service's. */
const ownKeysPages = ["own_keys", "react_kit"] as const;

export type PageName = (typeof plainPages)[number] | (typeof ownKeysPages)[number];

/** The core client can also run in React Native; these packages are never loaded in a browser. */
const nativeOnly = ["react-native-keychain", "@react-native-async-storage/*", "@turnkey/react-native-passkey-stamper"];

/** The pages' programs and style sheets by path. */
async function bundlePages(pages: readonly PageName[], plugins: Plugin[] = []): Promise<[string, string][]> {
  const { outputFiles } = await build({
    entryPoints: pages.map((name) => ({
      in: fileURLToPath(new URL(`page/${name}.ts`, import.meta.url)),
      out: name,
    })),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    outdir: "/",
    write: false,
    external: nativeOnly,
    plugins,
    define: { global: "globalThis", "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  return outputFiles.map(({ path, text }) => [path, text]);
}

/** Starts it and returns its origin. A browser takes localhost for as safe as https. */
export async function startApplication(t: TestContext, keystead: KeysteadServer): Promise<string> {
  const { sdk, organizationId } = rootOf(keystead);
  const { authProxyUrl, authProxyConfigId } = keystead.bootstrap;
  const published = await (await fetch(`${keystead.url}/.well-known/keystead.json`)).json();
  const { publicKeys } = published as { publicKeys: KeysteadPublicKeys };
  const files = new Map([
    ...(await bundlePages(plainPages)),
    ...(await bundlePages(ownKeysPages, [keysteadKeys(publicKeys)])),
  ]);
  const settings: Settings = {
    baseUrl: keystead.url,
    parentId: organizationId,
    authProxyUrl,
    authProxyConfigId,
    otpKey: publicKeys.otp,
  };

  async function signUp(authenticator: NewAuthenticator): Promise<SignedUp> {
    const { subOrganizationId } = await sdk.createSubOrganization({
      subOrganizationName: `Sub of ${authenticator.attestation.credentialId}`,
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: "Ann", apiKeys: [], authenticators: [authenticator], oauthProviders: [] }],
    });
    return { organizationId: subOrganizationId };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const file = files.get(path);
    if (file !== undefined) return send(response, path.endsWith(".css") ? "text/css" : "text/javascript", file);
    if (path === "/settings") return sendJson(response, settings);
    if (path === "/sign-up") return sendJson(response, await signUp(JSON.parse(await bodyOf(request))));
    const styles = files.has(`${path}.css`) ? `<link rel="stylesheet" href="${path}.css">` : "";
    const script = `<script type="module" src="${path}.js"></script>`;
    return send(response, "text/html", `<!doctype html><title>App</title>${styles}${script}`);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      response.writeHead(500, { "content-type": "text/plain" });
      response.end(error.message);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

function send(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { "content-type": `${type}; charset=utf-8` });
  response.end(text);
}

function sendJson(response: ServerResponse, value: unknown): void {
  send(response, "application/json", JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
