import { codeBlocks } from './code-blocks.ts';
import type { Document } from './documents.ts';
import { shellCommands } from './shell-commands.ts';

export interface DocumentedCommand {
  /** `docs/reference/event.md:12`. */
  readonly place: string;
  readonly words: readonly string[];
}

const shells = new Set(['sh', 'bash', 'shell', 'console', 'indented']);

/** Every command of the code blocks of a page, and those in its text, between backquotes. */
export function documentedCommands(document: Document): DocumentedCommand[] {
  const blocks = codeBlocks(document);
  const inBlocks = blocks
    .filter(({ language }) => shells.has(language))
    .flatMap(({ language, text, line }) =>
      shellCommands(language === 'console' ? prompted(text) : text).map((command) => ({
        place: `${document.path}:${line + command.line}`,
        words: command.words,
      })),
    );
  const inText = document.text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/(?<!`)`(tailmark [^`]+|npm (?:run|test)\b[^`]*)`(?!`)/g)]
      .map((match) => (match[1] ?? '').replaceAll('\\|', '|'))
      // What only shows a form is none: `tailmark … --json`, `tailmark COMMAND`, `tailmark a|b`.
      .filter((text) => !/…|^tailmark [A-Z]|\w\|\w/.test(text))
      // A name alone, `tailmark replay`, speaks of the command and need not be complete.
      .map((text) => (/^tailmark \w+$/.test(text) ? `${text} --help` : text))
      .flatMap(shellCommands)
      .map(({ words }) => ({ place: `${document.path}:${index + 1}`, words })),
  );
  return [...inBlocks, ...inText];
}

/** What is typed at the prompts of a session; what it printed becomes blank. */
function prompted(text: string): string {
  return text.replace(/^(\$ )?(.*)$/gm, (_, prompt, rest) => (prompt === undefined ? '' : rest));
}
