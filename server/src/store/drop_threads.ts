/**
 * Drops the permission to start threads, for good. Node starts a thread with any permission that it is asked for, whatever its process
 * was given; so this is called before code of any package is loaded, or anything is read.
 */
export function dropThreads(): void {
  process.permission?.drop("worker");
}
