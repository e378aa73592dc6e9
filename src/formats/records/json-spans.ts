/** Bytes `[start, end)` of a message. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}

/** Yields the lines that are not blank, without the space around them. */
export function* lineSpans(bytes: Uint8Array, whole: Span): Generator<Span, void> {
  let pos = whole.start;
  while (pos < whole.end) {
    const newline = bytes.indexOf(NEWLINE, pos);
    const next = newline < 0 || newline >= whole.end ? whole.end : newline;
    const line = trimmed(bytes, { start: pos, end: next });
    if (line.end > line.start) yield line;
    pos = next + 1;
  }
}

/** Yields the elements of an array, which has to be valid JSON, without the space around them. */
export function* elementSpans(bytes: Uint8Array, whole: Span): Generator<Span, void> {
  const { start, end } = trimmed(bytes, whole);
  let depth = 0;
  let from = start + 1;
  for (let i = start + 1; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) i = stringEnd(bytes, i, end);
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x2c && depth === 0) || i === end - 1) {
      yield trimmed(bytes, { start: from, end: i });
      from = i + 1;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
}

/** True if objects and arrays nest more than `depth` levels. Brackets within strings do not count. */
export function nestsDeeper(bytes: Uint8Array, { start, end }: Span, most: number): boolean {
  let depth = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) i = stringEnd(bytes, i, end);
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > most) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}

/** Position after the object or array that begins at `start`; 0 where it does not end. */
export function valueEnd(bytes: Uint8Array, { start, end }: Span): number {
  let depth = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) i = stringEnd(bytes, i, end);
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return i + 1;
  }
  return 0;
}

/** Position of the quote that ends the string at `pos`, or `end`. */
function stringEnd(bytes: Uint8Array, pos: number, end: number): number {
  let i = pos + 1;
  while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i;
}

/** The range without the space around it. */
export function trimmed(bytes: Uint8Array, { start, end }: Span): Span {
  let from = start;
  let to = end;
  while (from < to && isSpace(bytes[from])) from++;
  while (to > from && isSpace(bytes[to - 1])) to--;
  return { start: from, end: to };
}
