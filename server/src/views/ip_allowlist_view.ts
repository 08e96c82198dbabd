import type { IpAllowlist } from "../state/entities.ts";

/** A list as clients see it; one that is not there has no rules. The organization's own has an empty id. */
export function ipAllowlistView(organizationId: string, listId: string, list: IpAllowlist | undefined) {
  return {
    organizationId,
    rules: (list?.rules ?? []).map(({ createdAtMs, ...rule }) => ({ ...rule, createdAt: String(createdAtMs) })),
    ...(listId === "" ? { enabled: list?.enabled === true } : { publicKey: listId }),
    ...(list !== undefined && { onEvaluationError: list.onEvaluationError }),
  };
}
