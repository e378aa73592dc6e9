/** Lines beside a difference that are shown for orientation. */
const CONTEXT = 2;
/** Lines of a difference that are shown; the rest is counted. */
const MOST_SHOWN = 60;
/** Pairs of lines to compare; beyond it lines are compared by their position. */
const MOST_PAIRS = 4_000_000;

/** Lines that differ are shown from so many characters before their first difference to as many after the last. */
const BESIDE_CHARS = 80;

/** A line of both texts (' '), of the first alone ('-') or of the second alone ('+'). */
interface Edit {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Renders what differs between two texts, line by line, as a patch does; '' where they are equal. */
export function lineDiff(recorded: string, current: string): string {
  if (recorded === current) return '';
  const edits = shortened(editsOf(recorded.split('\n'), current.split('\n')));
  const isShown = new Set<number>();
  edits.forEach(({ sign }, at) => {
    if (sign === ' ') return;
    for (let i = at - CONTEXT; i <= at + CONTEXT; i++) isShown.add(i);
  });
  const lines: string[] = [];
  let [line, isGap] = [0, true];
  edits.forEach(({ sign, text }, at) => {
    if (sign !== '+') line++;
    if (isShown.has(at) && isGap) lines.push(`@@ line ${Math.max(1, line)}`);
    if (isShown.has(at)) lines.push(`${sign} ${text}`);
    isGap = !isShown.has(at);
  });
  const rest = lines.length - MOST_SHOWN;
  return [...lines.slice(0, MOST_SHOWN), ...(rest > 0 ? [`… ${rest} more lines`] : [])].join('\n');
}

function editsOf(a: readonly string[], b: readonly string[]): Edit[] {
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines: readonly string[]) => lines.map((text): Edit => ({ sign: ' ', text }));
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const between =
    left.length * right.length > MOST_PAIRS ? byPosition(left, right) : byLength(left, right);
  return [...same(a.slice(0, start)), ...between, ...same(a.slice(a.length - end))];
}

function byPosition(a: readonly string[], b: readonly string[]): Edit[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i): Edit[] => {
    const [left, right] = [a[i], b[i]];
    if (left !== undefined && left === right) return [{ sign: ' ', text: left }];
    return [
      ...(left === undefined ? [] : [{ sign: '-', text: left } as const]),
      ...(right === undefined ? [] : [{ sign: '+', text: right } as const]),
    ];
  }).flat();
}

/** Keeps the longest common subsequence. */
function byLength(a: readonly string[], b: readonly string[]): Edit[] {
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const lengthAt = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      edits.push({ sign: ' ', text: left });
      i++;
      j++;
    } else if (
      left !== undefined &&
      (right === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))
    ) {
      edits.push({ sign: '-', text: left });
      i++;
    } else {
      edits.push({ sign: '+', text: right ?? '' });
      j++;
    }
  }
  return edits;
}

/** Lines that replace others, without the long beginnings and ends that they share with those. */
function shortened(edits: readonly Edit[]): Edit[] {
  const short = [...edits];
  const runFrom = (from: number, sign: Edit['sign']) => {
    let end = from;
    while (edits[end]?.sign === sign) end++;
    return end;
  };
  for (let at = 0; at < edits.length; ) {
    const middle = runFrom(at, '-');
    const end = runFrom(middle, '+');
    for (let i = 0; i < Math.min(middle - at, end - middle); i++) {
      const [before, after] = [edits[at + i]?.text ?? '', edits[middle + i]?.text ?? ''];
      const [left, right] = withoutShared(before, after);
      short[at + i] = { sign: '-', text: left };
      short[middle + i] = { sign: '+', text: right };
    }
    at = Math.max(end, at + 1);
  }
  return short;
}

function withoutShared(a: string, b: string): [string, string] {
  const shortest = Math.min(a.length, b.length);
  let start = 0;
  while (start < shortest && a[start] === b[start]) start++;
  let end = 0;
  while (end < shortest - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const from = start > 2 * BESIDE_CHARS ? start - BESIDE_CHARS : 0;
  const left = end > 2 * BESIDE_CHARS ? end - BESIDE_CHARS : 0;
  const cut = (text: string) =>
    `${from > 0 ? '…' : ''}${text.slice(from, text.length - left)}${left > 0 ? '…' : ''}`;
  return [cut(a), cut(b)];
}
