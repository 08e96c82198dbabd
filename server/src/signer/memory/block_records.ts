/** Numbers with many gaps between them, in compactions alone: one bit for each number. Ranges would be 32 bytes for each gap. */
import { fixed, list, struct, u64 } from "@keystead/core/encoding/layout.ts";
import { blockBytes } from "./number_block.ts";
import { batchesOf, row } from "./record_kind.ts";

const blocksLayout = list(struct({ boot: fixed(16), index: u64, bits: fixed(blockBytes) }));

/** So that a record is no longer than those of ranges. */
const blocksAtOnce = 256;

function blocksOf(set: "released" | "owed", order: number) {
  return row({
    layout: blocksLayout,
    isWaitedFor: false,
    apply(contents, blocks) {
      for (const block of blocks) contents[set].addBlock(block);
    },
    compaction: { order, values: (contents) => batchesOf(contents[set].denseBlocks(), blocksAtOnce) },
  });
}

export const blockRecords = { releasedBlocks: blocksOf("released", 18), owedBlocks: blocksOf("owed", 19) };
