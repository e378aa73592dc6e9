import { generalPath, type Outcome } from './outcomes.ts';

const blank = ' \n\r\t';
const token = /"(?:\\[\s\S]|[^"\\])*"?|[{}[\],]/g;

/**
 * The rules for parting a message, written for plainness and not for speed: it looks for an
 * event's end by trying JSON.parse on every candidate. Works on Latin-1 text, in which a
 * character is a byte. Knows nothing of depth and count limits.
 */
export function referenceDecoder() {
  const decodeOne = generalPath();
  return (message: Buffer): Outcome[] => {
    const text = message.toString('latin1');
    const start = afterSpace(text, text.startsWith('\xef\xbb\xbf') ? 3 : 0);
    const whole = { index: 0, start: 0, end: text.length };
    if (start === text.length) return [{ reason: 'empty_message', ...whole }];
    if (text[start] === '{') return objects(text, start, message, decodeOne);
    if (text[start] === '[') return array(text, start, message, decodeOne);
    return [decodeOne(message, start, text.length, 0)];
  };
}

type DecodeOne = ReturnType<typeof generalPath>;

function objects(text: string, start: number, message: Buffer, decodeOne: DecodeOne): Outcome[] {
  const outcomes: Outcome[] = [];
  for (let pos = start; pos < text.length; ) {
    const end = objectEnd(text, pos);
    outcomes.push(decodeOne(message, pos, end, outcomes.length));
    pos = afterSpace(text, end);
  }
  return outcomes;
}

function objectEnd(text: string, pos: number): number {
  const newline = text.indexOf('\n', pos);
  const lineEnd = newline < 0 ? text.length : newline;
  if (text[pos] !== '{') return lineEnd;
  for (let close = text.indexOf('}', pos); close >= 0; close = text.indexOf('}', close + 1)) {
    if (isJson(text.slice(pos, close + 1))) return close + 1;
  }
  const balanced = balancedEnd(text.slice(pos, lineEnd), 0);
  return balanced < 0 ? lineEnd : pos + balanced;
}

function array(text: string, start: number, message: Buffer, decodeOne: DecodeOne): Outcome[] {
  const outcomes: Outcome[] = [];
  const rest = (pos: number) => {
    outcomes.push({ reason: 'invalid_json', index: outcomes.length, start: pos, end: text.length });
    return outcomes;
  };
  let pos = afterSpace(text, start + 1);
  if (text[pos] === ']' && afterSpace(text, pos + 1) === text.length) {
    return [{ reason: 'empty_message', index: 0, start, end: text.length }];
  }
  for (;;) {
    const close = elementClose(text, pos);
    if (close < 0 || text[close] === '}') return rest(pos);
    // White space before the comma is part of a rejected element.
    const whole = decodeOne(message, pos, close, outcomes.length);
    outcomes.push(whole);
    pos = afterSpace(text, close + 1);
    if (text[close] === ',') continue;
    return pos === text.length ? outcomes : rest(pos);
  }
}

/** End of the first balanced object or array, -1 if there is none. */
function balancedEnd(text: string, from: number): number {
  let depth = 0;
  for (const match of text.slice(from).matchAll(token)) {
    if (match[0] === '{' || match[0] === '[') depth++;
    if ((match[0] === '}' || match[0] === ']') && --depth === 0) return from + match.index + 1;
  }
  return -1;
}

function elementClose(text: string, from: number): number {
  let depth = 0;
  for (const match of text.slice(from).matchAll(token)) {
    const isClose = match[0] === '}' || match[0] === ']';
    if (depth === 0 && (isClose || match[0] === ',')) return from + match.index;
    if (match[0] === '{' || match[0] === '[') depth++;
    if (isClose) depth--;
  }
  return -1;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function afterSpace(text: string, pos: number): number {
  let i = pos;
  while (i < text.length && blank.includes(text[i] as string)) i++;
  return i;
}
