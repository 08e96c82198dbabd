/** One value in IndexedDB, which keeps keys that cannot be read. */
import type { ResumeSessionOptions } from "@keystead/sdk";

type Stored = Pick<ResumeSessionOptions, "key" | "token">;

const store = "sessions";

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open("keystead", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(store);
  return result(request);
}

export async function writeValue(database: IDBDatabase, value: Stored): Promise<void> {
  await result(database.transaction(store, "readwrite").objectStore(store).put(value, "current"));
}

export function readValue(database: IDBDatabase): Promise<Stored> {
  return result<Stored>(database.transaction(store).objectStore(store).get("current"));
}
