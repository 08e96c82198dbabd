/** The part of a request's parameters that the schema names: clients may send more, which means nothing and is not shown. */
export type ParamsSchema = {
  properties?: Record<string, ParamsSchema>;
  items?: ParamsSchema;
  anyOf?: readonly ParamsSchema[];
};

/** Some clients write out null for what they leave open; it is no part. */
export function knownParams({ properties, items, anyOf }: ParamsSchema, value: unknown): unknown {
  // The only unions in parameters are of something and null, and what is null never comes here.
  const [something] = anyOf ?? [];
  if (something !== undefined) return knownParams(something, value);
  if (items !== undefined && Array.isArray(value)) return value.map((item) => knownParams(items, item));
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  const names = Object.keys(properties).filter((name) => Object.hasOwn(fields, name) && fields[name] !== null);
  return Object.fromEntries(names.map((name) => [name, knownParams(properties[name] ?? {}, fields[name])]));
}
