/**
 * Spellings of a secret in a text. Servers quote what they refuse: as JSON with `\/`, in a form, a URL, HTML,
 * SQL, base64 or hex, and one inside the other.
 *
 * All texts here have one character for each byte of UTF-8, as escapes stand for bytes.
 */

/** A part of a text that is a secret; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text that was made of another one. Its character `i` stood there from `from[i]` until `from[i + 1]`. */
interface View {
  readonly text: string;
  readonly from: Int32Array;
}

/** So many characters of a view, and where they stood: one after the other, or all within an escape. */
interface Piece {
  readonly at: number;
  readonly length: number;
  readonly isEscape: boolean;
}

/** Finds forms of a secret in a text that is not escaped. */
interface Reading {
  /** Forms to look for. @param secret in bytes */
  readonly formsOf: (secret: string) => readonly string[];
  /** Parts of a text in which such a form may stand. @default {the whole text} */
  readonly runs?: RegExp;
  /** Characters that may stand amid a form. @default {nothing} */
  readonly dropped?: RegExp;
  /** Makes one of several alphabets, a character for a character. */
  readonly folded: (text: string) => string;
}

/** Forms to search for, by reading. */
export type Needles = ReadonlyMap<Reading, ReadonlySet<string>>;

/** Minimum length of a form: a shorter one would mask parts of ordinary words. */
const minCharacters = 6;
/** Maximum number of escapes one in the other: JSON in JSON in a URL. */
const maxLayers = 3;

const controls: Readonly<Record<string, string>> = {
  ...{ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', '0': '\0' },
};
const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', bsol: '\\', plus: '+' },
  ...{ equals: '=', colon: ':', commat: '@', percnt: '%', num: '#', excl: '!', dollar: '$' },
};

/** Escapes, each with what it stands for. An answer is escaped by one of them, or by one after the other. */
const escapes: readonly (readonly [pattern: RegExp, meaning: (groups: string[]) => string])[] = [
  // JSON, SQL and most languages.
  [
    /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|([0-3][0-7]{2})|([\s\S]))/gi,
    ([, high, low, unit, braced, byte, octal, other = '']) => {
      if (high !== undefined && low !== undefined) return pair(high, low);
      const code = unit ?? braced;
      if (code !== undefined) return character(Number.parseInt(code, 16));
      if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return controls[other] ?? other;
    },
  ],
  // URLs and forms.
  [
    /%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/gi,
    ([, unit, byte = '']) =>
      unit === undefined
        ? String.fromCharCode(Number.parseInt(byte, 16))
        : character(Number.parseInt(unit, 16)),
  ],
  // HTML and XML.
  [
    /&(?:#x0*([0-9a-f]{1,6});?|#0*(\d{1,7});?|([a-z]{2,8});)/gi,
    ([whole = '', hex, decimal, name = '']) => {
      if (hex !== undefined) return character(Number.parseInt(hex, 16));
      if (decimal !== undefined) return character(Number(decimal));
      return entities[name.toLowerCase()] ?? whole;
    },
  ],
  // SQL and CSV double a quote, each its own; shells close the text for it.
  [/'\\''|'"'"'|''/g, () => "'"],
  [/""/g, () => '"'],
  // Mail: quoted-printable.
  [
    /=(?:([0-9A-F]{2})|\r?\n)/g,
    ([, byte]) => (byte === undefined ? '' : String.fromCharCode(Number.parseInt(byte, 16))),
  ],
];

/** White space, colours of a terminal; joiners, word joiners, byte order marks, selectors of variants. */
const unseen = [
  ...[String.raw`\s+`, String.raw`\x1b\[[\d;]{0,20}[A-Za-z]`],
  ...['\u034f', '\u00ad', '\ufeff'].map(bytesOf),
  ...[String.raw`\xe2\x80[\x8b-\x8f]`, String.raw`\xe2\x81[\xa0-\xa4]`],
  String.raw`\xef\xb8[\x80-\x8f]`,
].join('|');

/** A text that is wrapped over lines, or has amid it what nobody sees. */
const parted = (dropped: string): Reading => ({
  formsOf: (secret) => [secret.replaceAll(/\s+/g, '')],
  dropped: new RegExp(dropped, 'g'),
  folded: (text) => text,
});

const readings: readonly Reading[] = [
  parted(unseen),
  // Apart from these: a secret may have angle brackets of its own.
  parted(`<[^<>]{0,100}>|${unseen}`),
  // A form writes a space as `+`.
  {
    formsOf: (secret) => [secret.replaceAll('+', ' ')],
    folded: (text) => text.replaceAll('+', ' '),
  },
  // Both alphabets of base64, in one line or several. Its content may be escaped before: a login of OAuth is
  // a form, the content of a token JSON.
  {
    formsOf: (secret) => {
      const text = Buffer.from(secret, 'latin1').toString();
      const wide = Buffer.from(text, 'utf16le').toString('latin1');
      const json = bytesOf(JSON.stringify(text).slice(1, -1));
      return [secret, wide, json, encodeURIComponent(text)].flatMap((form) =>
        [0, 1, 2].map((before) => insideBase64(form, before)),
      );
    },
    dropped: /[\r\n]+[\t ]*/g,
    folded: (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
  },
  // Hex, also a dump.
  {
    formsOf: (secret) => {
      const bytes = Buffer.from(secret, 'latin1');
      const wide = Buffer.from(bytes.toString(), 'utf16le');
      return [bytes.toString('hex'), wide.toString('hex')];
    },
    runs: /(?:(?:0x)?[0-9a-f]{2}[\s:,-]{0,2}){6,}/gi,
    dropped: /0x|[\s:,-]+/gi,
    folded: (text) => text.toLowerCase(),
  },
  // A list of bytes, as JSON writes a buffer.
  {
    formsOf: (secret) => [[...Buffer.from(secret, 'latin1')].join(',')],
    runs: /(?:\d{1,3}[\s,]{1,2}){5,}\d{1,3}/g,
    dropped: /\s+/g,
    folded: (text) => text,
  },
];

/** Adds all forms of a secret that are long enough. */
export function addNeedles(needles: Map<Reading, Set<string>>, secret: string): void {
  for (const reading of readings) {
    const forms = needles.get(reading) ?? new Set();
    for (const form of reading.formsOf(bytesOf(secret))) {
      if (form.length >= minCharacters) forms.add(form);
    }
    needles.set(reading, forms);
  }
}

/** The text with one character for each byte. */
export function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * Parts of a text in which one of the forms stands, in any order; they may overlap. Costs a scan of the text
 * for each form, and as many for each way in which the text may have been escaped: most have none, or one.
 */
export function spansIn(text: string, needles: Needles): Span[] {
  const spans: Span[] = [];
  const seen = new Set([text]);
  const visit = (layer: string, outer: readonly View[]) => {
    for (const found of spansOfLayer(layer, needles)) {
      spans.push(outer.reduceRight((span, { from }) => mappedBy(from, span), found));
    }
    if (outer.length === maxLayers) return;
    for (const [pattern, meaning] of escapes) {
      const next = replaced(layer, pattern, meaning);
      if (next === undefined || seen.has(next.text)) continue;
      seen.add(next.text);
      visit(next.text, [...outer, next]);
    }
  };
  visit(text, []);
  return spans.length === 0 ? spans : spans.map((span) => withWholeEscapes(span, text));
}

function spansOfLayer(text: string, needles: Needles): Span[] {
  const spans: Span[] = [];
  for (const [{ runs, dropped, folded }, forms] of needles) {
    for (const { at, run } of runsIn(text, runs)) {
      const view = dropped && replaced(run, dropped, () => '');
      for (const found of occurrences(folded(view?.text ?? run), forms)) {
        const { start, end } = view === undefined ? found : mappedBy(view.from, found);
        // What is dropped after the last character stays.
        const last = view?.from[found.end - 1];
        spans.push({ start: at + start, end: at + (last === undefined ? end : last + 1) });
      }
    }
  }
  return spans;
}

function runsIn(text: string, pattern: RegExp | undefined): { at: number; run: string }[] {
  if (pattern === undefined) return [{ at: 0, run: text }];
  return [...text.matchAll(pattern)].map((match) => ({ at: match.index, run: match[0] }));
}

function* occurrences(text: string, forms: ReadonlySet<string>): Generator<Span> {
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
      yield { start: at, end: at + form.length };
    }
  }
}

function mappedBy(from: Int32Array, { start, end }: Span): Span {
  return { start: from[start] ?? 0, end: from[end] ?? 0 };
}

/** Half an escape would be left of `\nabc`, where `nabc…` is a secret, and break the JSON around it. */
function withWholeEscapes({ start, end }: Span, text: string): Span {
  let backslashes = 0;
  while (text[start - 1 - backslashes] === '\\') backslashes++;
  return { start: start - (backslashes % 2), end };
}

/** Replaces matches, and knows where each character stood; undefined where nothing changes. */
function replaced(
  text: string,
  pattern: RegExp,
  meaning: (groups: string[]) => string,
): View | undefined {
  const parts: string[] = [];
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const part = meaning(match);
    pieces.push({ at: end, length: match.index - end, isEscape: false });
    pieces.push({ at: match.index, length: part.length, isEscape: true });
    parts.push(text.slice(end, match.index), part);
    end = match.index + match[0].length;
  }
  if (parts.length === 0) return undefined;
  pieces.push({ at: end, length: text.length - end, isEscape: false });
  parts.push(text.slice(end));
  return { text: parts.join(''), from: positions(pieces, text.length) };
}

function positions(pieces: readonly Piece[], end: number): Int32Array {
  const from = new Int32Array(pieces.reduce((sum, { length }) => sum + length, 1));
  let next = 0;
  for (const { at, length, isEscape } of pieces) {
    for (let i = 0; i < length; i++) from[next++] = isEscape ? at : at + i;
  }
  from[next] = end;
  return from;
}

function pair(high: string, low: string): string {
  return bytesOf(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
}

function character(code: number): string {
  return bytesOf(code > 0x10_ff_ff ? '\ufffd' : String.fromCodePoint(code));
}

/** Base64 characters that depend on these bytes alone, after `before` (modulo 3) other bytes. */
function insideBase64(text: string, before: number): string {
  const whole = Buffer.from('\0'.repeat(before) + text, 'latin1');
  const base64 = whole.toString('base64');
  return base64.slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
}
