import type { ActivityForm } from "../../endpoints/define_activity.ts";
import type { RecordWish } from "../../state/record_wish.ts";

/** The records that an activity declares it looks at. */
export function declaredRecords({ activity, translate }: ActivityForm, parameters: unknown): readonly RecordWish[] {
  return activity.records?.(translate(parameters) as never) ?? [];
}
