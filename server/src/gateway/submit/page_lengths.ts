import { isOptionalPage, type PageName } from "../../state/pages.ts";

type NamedPage = { name: string; content: Uint8Array };

/** How long the pages of an organization's newest state are: those that come with every state. */
export class PageLengths {
  readonly #lengths = new Map<string, number>();
  #total = 0;

  constructor(pages: readonly NamedPage[]) {
    this.note(pages);
  }

  get total(): number {
    return this.#total;
  }

  /** They were written anew. */
  note(pages: readonly NamedPage[]): void {
    for (const { name, content } of pages) {
      if (isOptionalPage(name as PageName)) continue;
      this.#total += content.length - (this.#lengths.get(name) ?? 0);
      this.#lengths.set(name, content.length);
    }
  }
}

export function lengthOf(pages: readonly Pick<NamedPage, "content">[]): number {
  return pages.reduce((sum, { content }) => sum + content.length, 0);
}
