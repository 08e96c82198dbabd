/** An expression at the limits of bytes and nodes, false until its last word. */
export function longExpression(): string {
  const clause = "activity.resource == 'x' || ";
  return `${clause.repeat(120)}activity.kind == 'CREATE_USER_TAG'`;
}
