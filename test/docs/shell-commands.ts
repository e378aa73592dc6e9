export interface ShellCommand {
  readonly words: readonly string[];
  /** From 0. */
  readonly line: number;
}

/**
 * The simple commands of a shell text, each as its words: without comments, redirections and
 * variables set before it. Knows quotes, continued lines and what separates commands, and nothing
 * of substitution.
 */
export function shellCommands(text: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let line = 0;
  let startLine = 0;
  let isRedirected = false;
  const end = () => {
    const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
    if (first >= 0) commands.push({ words: words.slice(first), line: startLine });
    words = [];
    isRedirected = false;
  };
  for (const [token] of text.matchAll(tokens)) {
    const separates = /^(\n|[|&;()]+)$/.test(token);
    if (separates) end();
    else if (/^\d*[<>]/.test(token)) isRedirected = true;
    else if (!/^(\s|\\\n|#)/.test(token)) {
      if (words.length === 0) startLine = line;
      if (!isRedirected) words.push(unquote(token));
      isRedirected = false;
    }
    line += token.split('\n').length - 1;
  }
  end();
  return commands;
}

/** A continued line, blanks, a comment, a redirection, separators, or a word. */
const tokens =
  /\\\n|[ \t]+|(?<=^|\s)#[^\n]*|\d*(?:>>|[<>])(?:&\d)?|\n|[|&;()]+|(?:"(?:\\.|[^"\\])*"|'[^']*'|\\[^\n]|[^\s"'\\|&;()<>])+/gm;

function unquote(word: string): string {
  return word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_, double, single, escaped) =>
    double === undefined ? (single ?? escaped) : String(double).replace(/\\(["\\$`])/g, '$1'),
  );
}
