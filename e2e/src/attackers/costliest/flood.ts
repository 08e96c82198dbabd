/** How one endpoint is flooded. */
import type { Answer, Course, Request } from "../lanes.ts";
import type { ActivityPath, Lane, QueryPath, Tenant } from "../tenant.ts";

export type CourseOf = (lane: Lane) => Course;

export type Flood = {
  /** Where fewer than usual have room beside each other. */
  connections?: number;
  /** Only an organization without a parent can ask for it, so that it floods the one whose member is measured. */
  atParent?: true;
  /** Why most of what is answered is no 200, where it cannot be otherwise. */
  refused?: string;
  /** Above the bytes from which on a body counts as large. */
  isLarge?: true;
  begin(tenant: Tenant): CourseOf | Promise<CourseOf>;
};

/** The same endpoint again and again. */
export function submitting(path: ActivityPath, make: (lane: Lane, turn: number) => object): CourseOf {
  return async function* (lane) {
    for (let turn = 0; ; turn++) yield lane.submit(path, make(lane, turn));
  };
}

/** The same question again and again: its bytes need not differ. */
export function asking(path: QueryPath, question: object = {}): CourseOf {
  return async function* (lane) {
    const request = lane.ask(path, question);
    for (;;) yield request;
  };
}

/** What is made is taken away again, or another change undone, so that no limit ends the flood. */
export function cycling(once: (lane: Lane, turn: number) => AsyncGenerator<Request, void, Answer>): CourseOf {
  return async function* (lane) {
    for (let turn = 0; ; turn++) yield* once(lane, turn);
  };
}

/** A flood that needs nothing first. */
export function flood(courseOf: CourseOf, more: Omit<Flood, "begin"> = {}): Flood {
  return { ...more, begin: () => courseOf };
}
