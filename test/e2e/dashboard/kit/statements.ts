/** A number that a page, the command line or a message states of some thing, as its text has it. */
export interface Statement {
  /** What the number is of: statements of one thing must agree. */
  readonly thing: string;
  readonly where: string;
  readonly text: string;
}

interface StatedNumber {
  readonly value: number;
  /** Half a unit of the last digit that is given. */
  readonly tolerance: number;
}

const units: Readonly<Record<string, number>> = { µs: 1e-3, ms: 1, s: 1e3, '%': 1e-2 };

/** `121 ms`, `1.24 s`, `× 3.0`, `3x`, `76.3`: the value in milliseconds or as a part, and how exactly it is given. */
export function statedNumber(text: string): StatedNumber {
  const plain = text.replaceAll(/[,\u202f\s×]/g, '');
  const [, digits = '', unit = ''] = /(\d+(?:\.\d+)?)(µs|ms|s|%|x)?/.exec(plain) ?? [];
  if (digits === '') throw new Error(`no number in ${JSON.stringify(text)}`);
  const factor = units[unit] ?? 1;
  const decimals = digits.split('.')[1]?.length ?? 0;
  // Three digits are given at least; zeros at the end of a whole number may be digits or not.
  return { value: Number(digits) * factor, tolerance: (10 ** -decimals / 2) * factor };
}

/** Pairs of statements of one thing that no number rounds to both of, as sentences. */
export function disagreements(statements: readonly Statement[]): string[] {
  return statements.flatMap((a, i) =>
    statements.slice(i + 1).flatMap((b) => {
      if (a.thing !== b.thing) return [];
      const [x, y] = [statedNumber(a.text), statedNumber(b.text)];
      const isSame = Math.abs(x.value - y.value) <= x.tolerance + y.tolerance + 1e-9;
      return isSame ? [] : [`${a.thing}: ${a.where} ${a.text}, ${b.where} ${b.text}`];
    }),
  );
}
