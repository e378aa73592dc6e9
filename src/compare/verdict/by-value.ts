import { valueText } from '../../series/value-text.ts';
import { mostComparedValues } from '../compare-options.ts';
import type { Comparison, Verdict } from '../comparison.ts';

/** A value of a dimension, and the requests that both sides have with it. */
export interface SideValue {
  readonly value: string;
  readonly requests: Comparison['requests'];
}

/** Values of a dimension that are compared, and the others. */
export interface ChosenValues {
  readonly compared: readonly SideValue[];
  /** The first of those that are not compared, those with most requests first. */
  readonly leftOut: readonly SideValue[];
  /** How many there are beside these. */
  readonly more: number;
}

/** Values that are listed beside those that are compared. */
const mostListed = 20;

/** The values that both sides have, those with most requests where they have fewer first. */
export function chosenValues(values: readonly SideValue[]): ChosenValues {
  const least = ({ requests }: SideValue) => Math.min(requests.candidate, requests.baseline);
  const most = ({ requests }: SideValue) => Math.max(requests.candidate, requests.baseline);
  const ordered = values.toSorted(
    (x, y) => least(y) - least(x) || most(y) - most(x) || (x.value < y.value ? -1 : 1),
  );
  const compared = ordered.slice(0, mostComparedValues).filter((value) => least(value) > 0);
  const others = ordered.slice(compared.length);
  return {
    compared,
    leftOut: others.slice(0, mostListed),
    more: Math.max(0, others.length - mostListed),
  };
}

/** Comparisons of the values of one dimension. */
export interface ValueComparisons<Compared extends Comparison = Comparison> {
  readonly by: string;
  /** `fail` where one value fails, `pass` where all of them pass. */
  readonly verdict: Verdict;
  readonly reason: string;
  readonly comparisons: readonly (Compared & { readonly value: string })[];
  readonly left_out: { readonly values: readonly SideValue[]; readonly more: number };
}

/**
 * The verdict of all values together. Each is compared with a part of the error share (`ofOneValue`), so the bounds of
 * a comparison hold for all of them: of good releases as many ever fail as without values.
 */
export function byValue<Compared extends Comparison>(
  by: string,
  compared: readonly (readonly [value: string, comparison: Compared])[],
  { leftOut, more }: Pick<ChosenValues, 'leftOut' | 'more'>,
): ValueComparisons<Compared> {
  const comparisons = compared.map(([value, comparison]) => ({ ...comparison, value }));
  const verdict = verdictOf(comparisons);
  return {
    ...{ by, verdict, reason: reasonOf(by, verdict, comparisons), comparisons },
    left_out: { values: leftOut, more },
  };
}

function verdictOf(comparisons: readonly Comparison[]): Verdict {
  const verdicts = comparisons.map(({ verdict }) => verdict);
  if (verdicts.includes('fail')) return 'fail';
  return verdicts.length > 0 && verdicts.every((each) => each === 'pass') ? 'pass' : 'inconclusive';
}

/** "1 of 4 values of attributes.adapter fails; lora-3: p99 is 1.5 times that of …". */
function reasonOf(
  by: string,
  verdict: Verdict,
  comparisons: readonly (Comparison & { readonly value: string })[],
): string {
  const all = comparisons.length;
  if (all === 0) return `no value of ${by} has requests of both sides`;
  const such = comparisons.filter((each) => each.verdict === verdict);
  const [first] = such;
  const isOne = such.length === 1;
  const what = {
    pass: isOne ? 'passes' : 'pass',
    fail: isOne ? 'fails' : 'fail',
    inconclusive: isOne ? 'has no verdict' : 'have no verdict',
  }[verdict];
  const counts = `${such.length} of ${all} compared ${all === 1 ? 'value' : 'values'} of ${by} ${what}`;
  return `${counts}; ${valueText(first?.value ?? '')}: ${first?.reason}`;
}
