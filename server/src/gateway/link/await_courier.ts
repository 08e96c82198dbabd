/** The courier is started when it is first needed, and may end: whoever asks it something waits for one. */
import type { CourierLink } from "./courier_link.ts";

export type CourierAccess = {
  courier: Pick<CourierLink, "isJoined" | "whenJoined" | "request">;
  /** Has the launcher start a courier, if none runs. */
  needCourier(): void;
};

/** Whether there is a courier before that time of `performance.now()`. */
export async function awaitCourier({ courier, needCourier }: CourierAccess, endsAt: number): Promise<boolean> {
  for (;;) {
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) return false;
    if (courier.isJoined()) return true;
    needCourier();
    await within(courier.whenJoined(), leftMs);
  }
}

async function within(done: Promise<void>, timeMs: number): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, timeMs);
  await Promise.race([done, timer.promise]);
  clearTimeout(timeout);
}
