import type { Document } from './documents.ts';

export interface CodeBlock {
  /** The word after the fence, '' if there is none, `indented` for a block without fences. */
  readonly language: string;
  readonly text: string;
  readonly path: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
}

/** Fenced blocks, and blocks indented by four spaces after a blank line, of a Markdown page. */
export function codeBlocks({ path, text }: Document): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = text.split('\n');
  let at = 0;
  while (at < lines.length) {
    const fence = /^ {0,3}(`{3,}|~{3,}) *([\w-]*)/.exec(lines[at] ?? '');
    const isIndented = /^ {4}\S/.test(lines[at] ?? '') && (lines[at - 1] ?? '') === '';
    if (fence === null && !isIndented) {
      at += 1;
      continue;
    }
    const first = fence === null ? at : at + 1;
    const isLast = (line: string) =>
      fence === null ? !/^( {4}|$)/.test(line) : line.trim() === fence[1];
    let end = first;
    while (end < lines.length && !isLast(lines[end] ?? '')) end += 1;
    blocks.push({
      language: fence === null ? 'indented' : (fence[2] ?? ''),
      text: lines
        .slice(first, end)
        .join('\n')
        .replace(/^ {4}/gm, fence === null ? '' : '    '),
      path,
      line: first + 1,
    });
    at = fence === null ? end : end + 1;
  }
  return blocks;
}
