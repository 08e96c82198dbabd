import { Fault } from "@keystead/core/fault.ts";
import { decodePage, emptyPages, type Pages, type SinglePage } from "../state/pages.ts";
import { findPage } from "../store/organizations.ts";
import type { Store } from "../store/store.ts";

/** One page of an organization's state, for readers. Nothing is decided by it, so its MAC is not looked at. */
export async function readOrganizationPage<N extends SinglePage>(
  store: Store,
  organizationId: string,
  name: N,
): Promise<Pages[N]> {
  const page = await findPage(store, organizationId, name);
  if (page === undefined) throw new Fault("internal", `an organization has no page \`${name}\``);
  return decodePage(name, page);
}

/** The same of a page that most organizations do not have: what was never written is empty. */
export async function findOrganizationPage<N extends SinglePage>(
  store: Store,
  organizationId: string,
  name: N,
): Promise<Pages[N]> {
  const page = await findPage(store, organizationId, name);
  return page === undefined ? emptyPages[name] : decodePage(name, page);
}
