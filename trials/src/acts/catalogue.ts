/** Every act, by what it is about. An endpoint that gets its entry in the endpoint matrix is among `others` from then on. */
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { type Act, ownAct } from "./act.ts";
import { bearWithWallet } from "./births.ts";
import { answerCode, askForCode, loginByParent } from "./codes.ts";
import { authenticateAtProvider, signInByParent } from "./identities.ts";
import { exportWords, importWords } from "./secrets.ts";
import { signInBelow } from "./sign_ins.ts";
import { signUpBy } from "./sign_ups.ts";
import { approvalOf, earlyApprovalOf, rejectionOf, stampOver, submissionOf } from "./votes.ts";

type Own = keyof typeof activityTable;

const own = (path: Own): Act => ownAct(path, activityTable[path] as ActivityEntry);

const named = {
  users: [own("create_users"), own("update_user")],
  tags: [own("create_user_tag"), own("update_user_tag")],
  "sub-organization": [bearWithWallet],
  wallet: [own("create_wallet"), own("create_wallet_accounts")],
  signature: [own("sign_raw_payload"), own("sign_transaction")],
  export: [exportWords],
  import: [importWords],
  policy: [own("create_policy")],
  "sign-in": [
    own("stamp_login"),
    own("create_read_write_session"),
    own("create_read_only_session"),
    own("create_authenticators"),
    signInBelow("stamp_login"),
    signInBelow("create_read_write_session"),
  ],
  code: [askForCode, answerCode, own("otp_login"), loginByParent],
  identity: [own("oauth_login"), authenticateAtProvider, signInByParent],
  "sign-up": [signUpBy("contact"), signUpBy("passkey"), signUpBy("identity")],
  vote: [
    approvalOf("create_user_tag"),
    approvalOf("sign_raw_payload"),
    approvalOf("create_sub_organization"),
    approvalOf("export_wallet"),
    rejectionOf("create_policy"),
    stampOver("sign_raw_payload"),
    stampOver("delete_wallets"),
  ],
  waiting: [submissionOf("create_user_tag"), submissionOf("sign_raw_payload"), earlyApprovalOf("create_wallet")],
  delete: [own("delete_users"), own("delete_wallets"), own("delete_policy"), own("delete_sub_organization")],
} as const satisfies Record<string, readonly Act[]>;

const namedPaths = new Set<string>(
  Object.values(named)
    .flat()
    .map(({ name }) => name),
);

const others: readonly Act[] = (Object.keys(activityTable) as Own[]).filter((path) => !namedPaths.has(path)).map(own);

export const catalogue = { ...named, others };

export type ActKind = keyof typeof catalogue;

export const actKinds = Object.keys(catalogue) as ActKind[];

const byName = new Map(
  Object.values(catalogue)
    .flat()
    .map((act) => [act.name, act]),
);

export function actNamed(name: string): Act {
  const act = byName.get(name);
  if (act === undefined) throw new Error(`there is no act \`${name}\`; there are: ${[...byName.keys()].join(", ")}`);
  return act;
}
