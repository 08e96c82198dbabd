/** Runs so many at a time, until all are done. */
export async function inTurn(atOnce: number, count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = next++; index < count; index = next++) await run(index);
    }),
  );
}
