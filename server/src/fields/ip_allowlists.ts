/** IP allowlists as requests write them and as answers show them. */
import { component } from "./component.ts";
import { optional } from "./credentials.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";

/** Of the API key that a list is for. */
export const listedKey = optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Public key of the API key that the list is for, in hex; left out, it is the organization's own list.",
  }),
);

const rule = Type.Object({
  cidr: Type.String({
    maxLength: 100,
    description: "A block of addresses, such as `192.0.2.0/24` or `2001:db8::/48`.",
  }),
  label: optional(name("What the block is, for people.")),
});

export const ipAllowlistParams = Type.Object({
  publicKey: listedKey,
  enabled: optional(
    Type.Boolean({
      description:
        "Whether the organization's list counts; it does where this is left out. Keys' lists count while they have rules.",
    }),
  ),
  // More than there may be: the same block may be named several times.
  rules: optional(
    Type.Array(rule, {
      maxItems: 100,
      description:
        "All rules: they replace those before. At most ten blocks of IPv4, /20 or narrower, and ten of IPv6, /48 or narrower.",
    }),
  ),
  onEvaluationError: optional(
    Type.Enum(["ALLOW", "DENY"], {
      description: "What happens to a request whose address is not known; `DENY` where this is left out.",
    }),
  ),
});

export type IpAllowlistParams = Static<typeof ipAllowlistParams>;

const text = (description: string) => Type.String({ description });

export const ipAllowlistRecord = Type.Object(
  {
    organizationId: text("Unique identifier of the organization."),
    rules: Type.Array(
      Type.Object({
        cidr: text("A block of addresses."),
        label: Type.Optional(text("What the block is, for people.")),
        createdAt: text("When the rule was set, in milliseconds since the epoch."),
      }),
    ),
    publicKey: Type.Optional(text("Public key of the API key that the list is for.")),
    enabled: Type.Optional(Type.Boolean({ description: "Whether the organization's list counts." })),
    onEvaluationError: Type.Optional(text("What happens to a request whose address is not known.")),
  },
  { description: "From which addresses requests may come." },
);

export const ipAllowlist = component<Static<typeof ipAllowlistRecord>>("IpAllowlist");
