/** Static types. `any` is what a map holds: what it is shows only when a request is there. */
export type PolicyType =
  | { kind: "bool" }
  /** Of any size and sign: the published i128 and u256 compare by value. */
  | { kind: "int" }
  | { kind: "string" }
  | { kind: "timestamp" }
  | { kind: "list"; of: PolicyType }
  | { kind: "struct"; name: string; fields: Readonly<Record<string, PolicyType>> }
  | { kind: "map" }
  | { kind: "any" };

export const bool: PolicyType = { kind: "bool" };
export const int: PolicyType = { kind: "int" };
export const string: PolicyType = { kind: "string" };
export const timestamp: PolicyType = { kind: "timestamp" };
export const map: PolicyType = { kind: "map" };
export const any: PolicyType = { kind: "any" };

export function list(of: PolicyType): PolicyType {
  return { kind: "list", of };
}

export function struct(name: string, fields: Readonly<Record<string, PolicyType>>): PolicyType {
  return { kind: "struct", name, fields };
}
