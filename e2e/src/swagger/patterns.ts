/** What a text must look like where the document only says "string". */

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const patterns: readonly { definition?: string; property: RegExp; pattern: RegExp }[] = [
  { definition: "external.data.v1.Timestamp", property: /^seconds$/, pattern: /^\d{10}$/ },
  { definition: "external.data.v1.Timestamp", property: /^nanos$/, pattern: /^\d{1,9}$/ },
  { definition: "Activity", property: /^fingerprint$/, pattern: /^sha256:[0-9a-f]{64}$/ },
  { definition: "Activity", property: /^id$/, pattern: uuid },
  { definition: "Vote", property: /^id$/, pattern: uuid },
  {
    property:
      /^(organization|user|activity|apiKey|tag|userTag|subOrganization|rootUser|policy|vote|smartContractInterface|sessionProfile)Ids?$|^subOrganizationUuid$/,
    pattern: uuid,
  },
];
