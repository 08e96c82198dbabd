/** PostgreSQL as somebody has it who may write to the database: one connection, any statement. */
import pg from "pg";

export type RawConnection = {
  query(text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]>;
  end(): Promise<void>;
};

export async function connectRaw(connectionString: string): Promise<RawConnection> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return {
    query: async (text, values) => (await client.query(text, [...values])).rows,
    end: () => client.end(),
  };
}
