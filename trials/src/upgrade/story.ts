/**
 * What happened in a data folder before it was packed, as far as a test goes on from there. All of it is in sub-organizations: the first
 * organization is as it was born, or its children's logs could not be executed anew.
 */

export type StoryPerson = { userId: string; privateKey: string };
export type StoryOrganization = { organizationId: string; people: StoryPerson[] };
type Waiting = { waiting: { activityId: string; fingerprint: string } };

export type DataFolderStory = {
  madeAtMs: number;
  /** Its owner alone decides. The second of its people may sign, by a policy, and has signed `payload` with the wallet's address. */
  one: StoryOrganization & {
    address: string;
    signing: { activityId: string; r: string; s: string; v: string };
    privateKeys: { kept: string; exported: string; deleted: string };
  };
  /** Two of three must agree; what waits has the first one's stamp. */
  two: StoryOrganization & Waiting;
  /** All three must agree; what waits lacks the third one's approval. */
  three: StoryOrganization & Waiting;
};

/** Signing it again gives the same signature: ours are deterministic. */
export const payload = {
  payload: "5a".repeat(32),
  encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
  hashFunction: "HASH_FUNCTION_NO_OP",
} as const;
