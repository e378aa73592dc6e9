/** Character that stands for itself, escape, class of characters, group, anchor or quantifier. */
const token =
  /\\[dwsDWS./\-?+*$^()[\]{}|:_]|\[\^?(?:[^\]\\[]|\\.)+\]|[*+?]|\{\d{1,3}\}|[^\\[\]{}]/y;

const rule = 'must be a pattern such as ^/predict/([^/?]+)';

/**
 * Says what keeps a regular expression from being one with a single group that takes linear time; undefined
 * if nothing does. Only a single character or class may repeat, followed by a character that cannot belong to
 * it or by the end. Then a match never has two ways to try.
 */
export function patternProblem(pattern: string): string | undefined {
  const tokens = tokensOf(pattern);
  if (tokens === undefined || !compiles(pattern)) return `${rule}: it is not one`;
  if (tokens[0] !== '^') return `${rule}: it must begin with ^`;
  if (tokens.includes('|')) return `${rule}: | is not supported, list patterns instead`;
  const groups = tokens.filter((each) => each === '(').length;
  if (groups !== 1) return `${rule}: it must have one group, not ${groups}`;
  for (const [at, each] of tokens.entries()) {
    const before = tokens[at - 1] ?? '';
    const quantifies = isQuantifier(each);
    if (quantifies && (isQuantifier(before) || '()^$'.includes(before))) {
      return `${rule}: "${each}" must follow a character or a class`;
    }
    if (!quantifies || each.startsWith('{')) continue;
    const following = tokens.slice(at + 1).filter((next) => next !== '(' && next !== ')');
    if (!endsRun(before, following)) {
      return `${rule}: after ${before}${each} must come a character that ${before} does not match`;
    }
  }
  return undefined;
}

function tokensOf(pattern: string): string[] | undefined {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < pattern.length) {
    const match = token.exec(pattern);
    if (match === null) return undefined;
    tokens.push(match[0]);
  }
  return tokens;
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

function isQuantifier(each: string): boolean {
  return each === '*' || each === '+' || each === '?' || /^\{\d/.test(each);
}

/** True if a run of an atom ends where it must: a character outside it follows, or the end. */
function endsRun(atom: string, [next, after = '', ...rest]: readonly string[]): boolean {
  if (next === undefined || next === '$') return true;
  const isCharacter = next !== '.' && (next.length === 1 || /^\\[^dwsDWS]$/.test(next));
  if (!isCharacter || new RegExp(`^${atom}$`).test(next.at(-1) as string)) return false;
  const mayBeLeftOut = after === '?' || after === '*' || /^\{0+\}$/.test(after);
  return !mayBeLeftOut || endsRun(atom, rest);
}
