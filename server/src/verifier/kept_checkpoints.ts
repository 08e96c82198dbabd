/**
 * The checkpoints in a file that somebody has kept: one, or all that `KEYSTEAD_CHECKPOINT_FILE` was given. An empty line parts text from signatures,
 * and one checkpoint from the next. What a power cut left without a signature is skipped.
 */
export function keptCheckpoints(text: string): string[] {
  const blocks = text.split(/\n\n+/);
  const notes = blocks.flatMap((block, i) =>
    i > 0 && block.startsWith("\u2014 ") ? [`${blocks[i - 1]}\n\n${block.replace(/\n$/, "")}\n`] : [],
  );
  // A file without any is checked as it is, and refused for what it lacks.
  return notes.length > 0 ? notes : [text];
}
