/** A page of the application in the browser, as tests use it. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { patienceMs } from "../../../core/test/patience.ts";
import type { PageName } from "./application.ts";
import { newPageWithAuthenticator } from "./chromium.ts";
import type { Refusal, StepAnswer, StepCaller, Steps } from "./page/steps.ts";

type Result<S extends Steps, K extends keyof S> = S[K] extends (...input: never[]) => Promise<infer R> ? R : never;

export type AppPage<S extends Steps> = {
  run<K extends keyof S & string>(step: K, ...input: Parameters<S[K]>): Promise<Result<S, K>>;
  /** The refusal of a step that must not succeed. */
  refusal<K extends keyof S & string>(step: K, ...input: Parameters<S[K]>): Promise<Refusal>;
  /** The first refusal of a step that is repeated until then. */
  untilRefused<K extends keyof S & string>(step: K, ...input: Parameters<S[K]>): Promise<Refusal>;
  /** All that is left is what the clients have stored. */
  reload(): Promise<void>;
  /** Leaves for another site. What is done there must lead back to this page. */
  leaveFor(address: string, act: (page: Page) => Promise<void>): Promise<void>;
};

export async function openPage<S extends Steps>(
  t: TestContext,
  browser: Browser,
  origin: string,
  name: PageName,
): Promise<AppPage<S>> {
  const page = await newPageWithAuthenticator(t, browser);
  /** A program that throws while it loads never offers its steps. */
  const failed = new Promise<never>((_, reject) => page.once("pageerror", reject));
  failed.catch(() => {});
  const ready = () => Promise.race([page.waitForFunction(() => "callStep" in globalThis), failed]);
  await page.goto(`${origin}/${name}`);
  await ready();

  function call(step: string, input: unknown[]): Promise<StepAnswer> {
    return page.evaluate(([step, input]) => (globalThis as unknown as { callStep: StepCaller }).callStep(step, input), [
      step,
      input,
    ] as const);
  }

  async function refusal(step: string, ...input: unknown[]): Promise<Refusal> {
    const { refusal } = await call(step, input);
    assert.ok(refusal, `${step} was not refused`);
    return refusal;
  }

  return {
    async run<K extends keyof S & string>(step: K, ...input: Parameters<S[K]>): Promise<Result<S, K>> {
      const { value, refusal } = await call(step, input);
      assert.ok(refusal === undefined, `${step}: ${JSON.stringify(refusal)}`);
      return value as Result<S, K>;
    },
    refusal,
    async untilRefused(step, ...input) {
      for (const endMs = Date.now() + patienceMs; Date.now() < endMs; ) {
        const { refusal } = await call(step, input);
        if (refusal !== undefined) return refusal;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.fail(`${step} was never refused`);
    },
    async reload() {
      await page.reload();
      await ready();
    },
    async leaveFor(address, act) {
      await page.goto(address);
      await act(page);
      await ready();
    },
  };
}
