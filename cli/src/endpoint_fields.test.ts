import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleOf } from "./endpoint_example.ts";
import { type EndpointName, endpointLines, endpoints } from "./endpoint_fields.ts";
import { parseFields } from "./endpoint_types.ts";

test("the types of every endpoint are read to their end, and its example has every field that must be there", () => {
  for (const [name, { parameters }] of Object.entries(endpoints)) {
    const fields = parseFields(parameters);
    const isShown = (text: string) => !/^\w+\?:/.test(text) || text.startsWith("consensus?");
    const shown = parameters.filter(isShown).map((text) => text.split(/\??:/)[0]);
    assert.deepEqual(
      fields.map((field) => `${field.name}${field.isOptional ? "?" : ""}`),
      parameters.map((text) => text.split(":")[0]),
      name,
    );
    assert.deepEqual(Object.keys(exampleOf(fields)), shown, name);
    const lines = endpointLines(name as EndpointName);
    assert.ok(Math.max(...lines.slice(0, -3).map((line) => line.length)) < 160, name);
  }
});

test("help says what a field is and its bounds, in lines that fit", () => {
  const lines = endpointLines("init_otp");
  assert.ok(lines.some((line) => /^ {2}otpLength\? +number: How many characters the code has, 6 to 9;/.test(line)));
  const start = lines.findIndex((line) => line.startsWith("  expirationSeconds?"));
  assert.match(`${lines[start]} ${lines[start + 1]?.trim()}`, /300 when left out, at most 600\./);
  // Of fields inside others, and of elements of lists.
  const config = endpointLines("update_auth_proxy_config");
  assert.ok(config.some((line) => /^ {6}google\? +text: Client id\.$/.test(line)));
  assert.ok(endpointLines("set_ip_allowlist").some((line) => /^ {4}cidr +text: A block of addresses/.test(line)));
  for (const line of [...lines, ...config].slice(0, -3)) assert.ok(line.length <= 120, line);
});

test("the example of a sub-organization gives its root user a credential", () => {
  const { rootUsers } = exampleOf(parseFields(endpoints.create_sub_organization.parameters));
  const apiKeys = [{ apiKeyName: "API_KEY_NAME", publicKey: "PUBLIC_KEY", curveType: "API_KEY_CURVE_P256" }];
  assert.deepEqual(rootUsers, [{ userName: "USER_NAME", apiKeys }]);
});

test("lists, objects, words, numbers and null are told apart", () => {
  const [field] = parseFields(['a?: { b: ("X_1" | "X_2")[]; c?: 12 | 15 | null; d: { e: boolean; }[][]; } | null']);
  assert.deepEqual(field, {
    name: "a",
    isOptional: true,
    type: {
      kind: "object",
      fields: [
        { name: "b", isOptional: false, type: { kind: "list", of: { kind: "words", words: ["X_1", "X_2"] } } },
        { name: "c", isOptional: true, type: { kind: "words", words: ["12", "15"] } },
        {
          name: "d",
          isOptional: false,
          type: {
            kind: "list",
            of: {
              kind: "list",
              of: { kind: "object", fields: [{ name: "e", isOptional: false, type: { kind: "flag" } }] },
            },
          },
        },
      ],
    },
  });
});
