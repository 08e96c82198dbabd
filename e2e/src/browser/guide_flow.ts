/** The web application of the guide about passkeys, saved and run as printed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { TestContext } from "node:test";
import type { Browser } from "playwright-core";
import { programs, saveFiles } from "../guide_programs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { newPageWithAuthenticator } from "./chromium.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts `app.ts` on a free port instead of the printed one. */
async function startApp(t: TestContext, keystead: KeysteadServer): Promise<string> {
  const [app = "", page = "", ...others] = programs("docs/guides/passkeys.md");
  assert.deepEqual(others, []);
  const port = String(await freePort());
  const files = { "app.ts": app.replaceAll("3000", port), "page.ts": page };
  const cwd = saveFiles(t, files, keystead.bootstrap);
  const child = spawn(process.execPath, ["app.ts"], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  const ended = once(child, "exit").then(() => assert.fail("the application of the guide ended"));
  ended.catch(() => {});
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  assert.equal(String(line), `open http://localhost:${port}\n`);
  return `http://localhost:${port}`;
}

export async function guideFlow(t: TestContext, browser: Browser, keystead: KeysteadServer): Promise<void> {
  const page = await newPageWithAuthenticator(t, browser);
  await page.goto(await startApp(t, keystead));
  const press = async (button: string) => {
    await page.locator("pre").evaluate((output) => output.replaceChildren());
    await page.getByRole("button", { name: button }).click();
    await page.waitForFunction(() => document.querySelector("pre")?.textContent);
    return page.locator("pre").textContent();
  };
  assert.equal(await press("Sign up"), "signed up");
  assert.match((await press("Sign in")) ?? "", /^0x[0-9a-fA-F]{40} 0x[0-9a-f]{128}0[01]$/);
}
