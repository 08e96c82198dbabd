import { Fault } from "@keystead/core/fault.ts";
import { readBody, readOrganizationId } from "../../endpoints/envelope.ts";

/**
 * Rows that cannot be read are most likely changed ones. The caller gets an internal error; the operator's log names the organization
 * and the command that finds the rows.
 */
export async function naming<T>(body: Uint8Array, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.code !== "internal") throw error;
    const organizationId = readOrganizationId(readBody(body));
    const what = `organization ${organizationId}: an answer failed; if rows were changed, \`npx keystead check-database\` names them`;
    throw new Fault("internal", what, { cause: error });
  }
}
