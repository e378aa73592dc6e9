import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeBlocks } from './code-blocks.ts';
import { documents } from './documents.ts';

const root = new URL('../../', import.meta.url);

/** Targets of the links and images of a page, without those of its code. */
function linksOf(path: string, text: string): string[] {
  let prose = text;
  for (const block of codeBlocks({ path, text })) prose = prose.replace(block.text, '');
  prose = prose.replace(/`[^`\n]*`/g, (code) => code.replaceAll(/[()[\]]/g, ' '));
  const inline = [...prose.matchAll(/\]\(([^()\s]+)(?: "[^"]*")?\)/g)];
  const references = [...prose.matchAll(/^\[[^\]]+\]: +(\S+)/gm)];
  const pictures = [...prose.matchAll(/ (?:src|srcset)="([^"]+)"/g)];
  return [...inline, ...references, ...pictures].map((match) => match[1] ?? '');
}

/** The anchors of a page's headings, as GitHub names them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#{1,6} +(.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with a link, null if nothing is. */
function problemOf(link: string, from: { path: string; text: string }): string | null {
  const [target = '', anchor] = link.split('#', 2);
  const url = target === '' ? new URL(from.path, root) : new URL(target, new URL(from.path, root));
  if (!url.href.startsWith(root.href)) return 'it leads out of the project';
  if (!existsSync(url)) return 'there is no such file';
  if (target.endsWith('/') !== statSync(url).isDirectory()) return 'a folder ends in a slash';
  if (anchor === undefined || anchor === '') return null;
  if (!url.pathname.endsWith('.md')) return null;
  const text = target === '' ? from.text : readFileSync(url, 'utf8');
  return anchorsOf(text).includes(anchor) ? null : 'that page has no such heading';
}

const links = documents().flatMap((document) =>
  linksOf(document.path, document.text)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => ({ from: document, path: document.path, link })),
);

describe('links in the documentation', () => {
  it('are found', () => {
    expect(links.map(({ path, link }) => `${path} ${link}`)).toContain(
      'README.md docs/reference/event.md',
    );
  });

  it.each(links)('$path to $link', ({ from, link }) => {
    expect(problemOf(link, from)).toBeNull();
  });

  it.each([
    ['nowhere.md', 'there is no such file'],
    ['../etc/passwd', 'it leads out of the project'],
    ['docs', 'a folder ends in a slash'],
    ['docs/reference/cli.md#exit-cods', 'that page has no such heading'],
    ['#no-heading', 'that page has no such heading'],
    ['docs/reference/cli.md#exit-codes', null],
    ['docs/', null],
  ])('%s would be %j', (link, problem) => {
    expect(problemOf(link, { path: 'README.md', text: '# Title\n' })).toBe(problem);
  });
});

/** Pages that code, settings and files to deploy name: in a hint, a help text or a comment. */
const named = ['src', 'ui/src', 'config', 'deploy', 'scripts'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|js|yaml|json|html)$/.test(name))
    .flatMap((name) => {
      const path = `${folder}/${name}`;
      const text = readFileSync(new URL(path, root), 'utf8');
      const pages = [...text.matchAll(/(?<![\w./])docs\/[\w/-]+\.md(?:#[\w-]+)?/g)];
      return pages.map(([link]) => ({ path, link }));
    }),
);

describe('pages that a command, a setting or a comment names', () => {
  it('are found', () => {
    expect(named).toContainEqual({
      path: 'src/cli/commands/up.ts',
      link: 'docs/how-to/local-stack.md',
    });
  });

  it.each(named)('$path names $link', ({ link }) => {
    expect(problemOf(link, { path: 'README.md', text: '' })).toBeNull();
  });
});
