/** Where checkpoints go besides the log itself: to the witnesses, and to the operator's file. */
import { type CheckpointFile, openCheckpointFile } from "./checkpoint_file.ts";
import { createWitnesses, type Witnesses, type WitnessesOptions } from "./witnesses.ts";

export type CheckpointOutlets = {
  /** For every new checkpoint, as a signed note. Returns at once; what fails is logged and never thrown. */
  push(checkpointNote: string): void;
  close(): Promise<void>;
};

export function createCheckpointOutlets(
  options: WitnessesOptions & { checkpointFile: string | undefined },
): CheckpointOutlets {
  const witnesses: Witnesses = createWitnesses(options);
  const { checkpointFile: path, log } = options;
  const file: CheckpointFile | undefined = path === undefined ? undefined : openCheckpointFile(path, log);
  return {
    push(note) {
      file?.append(note);
      witnesses.push(note);
    },
    async close() {
      await Promise.all([witnesses.close(), file?.close()]);
    },
  };
}
