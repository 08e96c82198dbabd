export type Effect = "EFFECT_ALLOW" | "EFFECT_DENY";
