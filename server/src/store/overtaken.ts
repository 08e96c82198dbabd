/** Transactions that PostgreSQL took back because another writer was faster. */

/** Serialization failures and deadlocks. */
const codes = ["40001", "40P01"];
const maxAttempts = 10;

/** Runs `work` again when another writer overtook it: everything was taken back, so the same work may begin anew. */
export async function untilNotOvertaken<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (attempt === maxAttempts || !codes.includes(code)) throw error;
    }
  }
}
