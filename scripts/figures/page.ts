/** docs/figures.md: what a person reads of docs/figures.json. */
import type { Figures } from "./record.ts";

const widest = 120;

export function toPage({ machine, suites, benches }: Figures): string {
  const rows = Object.entries(suites).map(([path, { commit, passed, failed, said }]) => {
    const count = failed === 0 ? String(passed) : `${passed}, **${failed} failed**`;
    const start = `| \`${path}\` | ${commit} | ${count} | `;
    return `${start}${phraseOf(said, widest - start.length - 2)} |`;
  });
  const blocks = Object.entries(benches).map(([name, { commit, lines }]) => {
    const command = `npm run ${name.replace(" ", " -- ")}`;
    return `### \`${command}\`\n\nAt ${commit}:\n\n\`\`\`\n${targetsIn(lines).join("\n")}\n\`\`\``;
  });
  return `<!-- Written by \`npm run figures\` from figures.json, which has every word of it. Do not edit. -->
# Figures

Last measured with Node ${machine.node} on ${machine.cores} cores (${machine.architecture}). Ratios travel between
machines; times do not. Everything that was counted is in [figures.json](figures.json).

## Suites with full counts

| suite | at commit | tests passed | what they counted |
|---|---|---|---|
${rows.join("\n")}

## Cost

What has a target, and what missed it.

${blocks.join("\n\n")}
`;
}

/** The first thing that a suite said about itself besides its seed, as far as there is room. */
function phraseOf(said: readonly string[], room: number): string {
  const isSeed = (line: string) => /^KEYSTEAD_SEED=\d+$/.test(line);
  const line = (said.find((line) => !isSeed(line)) ?? "").replace(/^(?:KEYSTEAD_SEED=|seed )\d+: /, "");
  const text = line.replaceAll("|", "\\|");
  return text.length <= room ? text : `${text.slice(0, Math.max(0, room - 2))} …`;
}

/** The lines with a target or a miss, under the header of their table; all lines when there is none. */
function targetsIn(lines: readonly string[]): string[] {
  const isAbout = (line: string) => /^MISSED|\(target \S+\)$/.test(line);
  if (!lines.some(isAbout)) return [...lines];
  const shown: string[] = [];
  let header: string | undefined;
  for (const line of lines) {
    if (line.startsWith("database  ")) header = line;
    if (!isAbout(line)) continue;
    if (header !== undefined && !line.startsWith("MISSED")) {
      shown.push(header);
      header = undefined;
    }
    shown.push(line);
  }
  return shown;
}
