// Measures how easy the pages are to read: words, the widest line, and Flesch reading ease (Flesch 1948).
// `node scripts/readability.js` prints it for every page, the hardest first.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);

/** Every page: those at the root, and all of docs/. */
export function pagePaths() {
  const below = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' });
  return [
    ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md'],
    ...below
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`)
      .toSorted(),
  ];
}

/** What a page measures; `ease` is NaN where it has no prose. */
export function measure(text) {
  const blocks = proseBlocks(text);
  const sentences = blocks.flatMap(sentencesOf);
  const words = sentences.flat();
  const syllables = words.reduce((sum, word) => sum + syllablesOf(word), 0);
  return {
    words: wordsOf(text.replaceAll(/<!--[\s\S]*?-->|^ *(```|~~~).*$/gm, '')).length,
    widest: Math.max(0, ...proseLines(text).map((line) => line.length)),
    ease: 206.835 - (1.015 * words.length) / sentences.length - (84.6 * syllables) / words.length,
    wordsPerSentence: words.length / sentences.length,
  };
}

/** Whatever holds a letter or a digit counts as a word, in code and tables too. */
function wordsOf(text) {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** Lines that are neither code nor table nor picture. A line of a single word cannot be broken: it is ''. */
export function proseLines(text) {
  const lines = [];
  let fence = null;
  let isIndented = false;
  let before = '';
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    isIndented = /^ {4}\S/.test(line) && (before.trim() === '' || isIndented);
    if (fence !== null) fence = line.trim() === fence ? null : fence;
    else if (mark !== null) fence = mark;
    else if (!isIndented && !/^\s*(\||<!--|!\[)/.test(line)) lines.push(line);
    before = line;
  }
  return lines.map((line) => (/\S\s+\S/.test(line.replace(/^\s*([-*]|\d+\.)\s+/, '')) ? line : ''));
}

/** Paragraphs and items of lists, each as one text; headings are no sentences. */
function proseBlocks(text) {
  const blocks = [''];
  for (const line of proseLines(text)) {
    const isHeading = line.startsWith('#');
    if (line.trim() === '' || isHeading || /^\s*([-*]|\d+\.)\s/.test(line)) blocks.push('');
    if (!isHeading) blocks.push(`${blocks.pop()} ${line.replace(/^\s*([-*]|\d+\.)\s/, '')}`);
  }
  return blocks.map(withoutMarkup).filter((block) => block !== '');
}

function withoutMarkup(block) {
  return block
    .replaceAll(/`[^`]*`/g, ' ')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<https?:[^>]*>|https?:\S+/g, ' ')
    .replaceAll(/\S+\.(md|ts|js|sql|yaml|txt)\b/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Each sentence as its words; a number is none. */
function sentencesOf(block) {
  return block
    .split(/(?<=[.!?])["”)*]*\s+(?=[\p{Lu}\p{N}"“*(])/u)
    .map((sentence) => sentence.split(/[^\p{L}\p{N}’']+/u).filter((word) => /\p{L}/u.test(word)))
    .filter((words) => words.length > 0);
}

/** Groups of vowels, less a silent e; what English spelling does on top is left aside. */
export function syllablesOf(word) {
  const letters = word.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (letters.length <= 3) return 1;
  const spoken = letters
    .replace(/(?:[^laeiouy]es|[^dt]ed|[^laeiouy]e)$/, (end) => end[0])
    .replace(/^y/, '');
  return Math.max(1, spoken.match(/[aeiouy]{1,2}/g)?.length ?? 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = pagePaths().map((path) => ({
    path,
    ...measure(readFileSync(new URL(path, root), 'utf8')),
  }));
  process.stdout.write('  ease  words/sentence  words  widest  page\n');
  for (const { path, words, widest, ease, wordsPerSentence } of pages.toSorted(
    (a, b) => a.ease - b.ease,
  )) {
    const cells = [
      ...[ease.toFixed(1).padStart(6), wordsPerSentence.toFixed(1).padStart(15)],
      ...[String(words).padStart(6), String(widest).padStart(7)],
    ];
    process.stdout.write(`${cells.join(' ')}  ${path}\n`);
  }
}
