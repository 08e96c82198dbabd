/** One client's way through signing in, on a page of its own. */
import type { TestContext } from "node:test";
import type { Browser } from "playwright-core";
import type { KeysteadServer } from "../keystead_server.ts";
import type { AppPage } from "./app_page.ts";
import type { PageName } from "./application.ts";
import type { Steps } from "./page/steps.ts";

export type FlowContext = {
  keystead: KeysteadServer;
  parentId: string;
  /** Of the application's pages. */
  origin: string;
  browser: Browser;
  /** A new person's browser: nothing is stored there, and its authenticator is empty. */
  open<S extends Steps>(t: TestContext, page: PageName): Promise<AppPage<S>>;
};

export type Flow = (t: TestContext, context: FlowContext) => Promise<void>;
