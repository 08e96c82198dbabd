/** The React wallet kit as it is on npm, in a page that shows who is signed in. */
import "@turnkey/react-wallet-kit/styles.css";
import { TurnkeyProvider, useTurnkey } from "@turnkey/react-wallet-kit";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { authProxyConfigId, authProxyUrl, baseUrl, parentId } from "./application.ts";
import { announceWallets } from "./injected_wallets.ts";
import { ethereumAccount } from "./wallets.ts";

announceWallets();

const newUser = { customWallet: { walletName: "Main", walletAccounts: [ethereumAccount] } };
const config = {
  apiBaseUrl: baseUrl,
  organizationId: parentId,
  authProxyUrl,
  authProxyConfigId,
  auth: { createSuborgParams: { passkeyAuth: newUser, emailOtpAuth: newUser, walletAuth: newUser } },
};

const next = () => document.querySelector<HTMLInputElement>("#next")?.value ?? "";

function Account() {
  const kit = useTurnkey();
  const { clientState, authState, session, user, wallets, handleLogin, logout } = kit;
  const address = wallets.find(({ source }) => source === "embedded")?.accounts[0]?.address;
  return createElement(
    "main",
    null,
    createElement("p", { id: "state" }, `${clientState}, ${authState}`),
    createElement("p", { id: "organization" }, session?.organizationId ?? ""),
    createElement("p", { id: "user" }, user?.userId ?? ""),
    createElement("p", { id: "address" }, address ?? ""),
    createElement("button", { type: "button", onClick: () => handleLogin() }, "Open"),
    createElement("button", { type: "button", onClick: () => logout() }, "Log out"),
    createElement("button", { type: "button", onClick: () => kit.handleAddEmail() }, "Add e-mail"),
    createElement("input", { id: "next" }),
    createElement(
      "button",
      { type: "button", onClick: () => kit.handleUpdateUserEmail({ email: next() }) },
      "Change e-mail",
    ),
  );
}

const root = document.createElement("div");
document.body.append(root);
createRoot(root).render(
  createElement(TurnkeyProvider, {
    config,
    callbacks: { onError: (error: Error) => console.error("kit", error) },
    // biome-ignore lint/correctness/noChildrenProp: its type has no other way without JSX
    children: createElement(Account),
  }),
);
