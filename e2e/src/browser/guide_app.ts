/** Applications that guides print, saved and run. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { saveFiles } from "../guide_programs.ts";
import { type KeysteadServer, repository } from "../keystead_server.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export type GuideFiles = { "app.ts": string } & Record<string, string>;

/** Starts `app.ts` beside the other files, on a free port instead of the printed one. */
export async function startGuideApp(t: TestContext, keystead: KeysteadServer, files: GuideFiles): Promise<string> {
  const port = String(await freePort());
  const saved = { ...files, "app.ts": files["app.ts"].replaceAll("3000", port) };
  const cwd = saveFiles(t, saved, keystead.bootstrap);
  symlinkSync(join(repository, "examples"), join(cwd, "examples"));
  const child = spawn(process.execPath, ["app.ts"], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  const ended = once(child, "exit").then(() => assert.fail("the application of the guide ended"));
  ended.catch(() => {});
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  assert.equal(String(line), `open http://localhost:${port}\n`);
  return `http://localhost:${port}`;
}

/** Presses a button of such an application; what it shows then. */
export async function press(page: Page, button: string): Promise<string> {
  await page.locator("pre").evaluate((output) => output.replaceChildren());
  await page.getByRole("button", { name: button }).click();
  await page.waitForFunction(() => !["", "…"].includes(document.querySelector("pre")?.textContent ?? ""));
  return (await page.locator("pre").textContent()) ?? "";
}
