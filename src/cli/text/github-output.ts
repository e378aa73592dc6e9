/**
 * A workflow command of GitHub Actions, which shows up as an annotation: `::error title=…::text`, ended by a
 * newline. Source: actions/toolkit, packages/core/src/command.ts, `escapeData` and `escapeProperty`.
 */
export function annotation(
  level: 'error' | 'warning' | 'notice',
  title: string,
  text: string,
): string {
  return `::${level} title=${escapedProperty(title)}::${escapedData(text)}\n`;
}

function escapedData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Text that Markdown shows as it is, also in a table: no markup, links, HTML or further cells. */
export function markdownText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*_{}[\]|~@:#]|\.(?=[a-z])/gi, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll(/\s+/g, ' ');
}
