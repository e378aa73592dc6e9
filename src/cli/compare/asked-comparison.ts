import { OperatorError } from '../../base/operator-error.ts';
import { type TimeRange, timeRange } from '../flag-values.ts';
import type { Options } from '../io.ts';

/** The question of `tailmark compare`: two versions over one range, two ranges, two files, or an incident. */
export type AskedComparison = { readonly baseline: string; readonly version: string } & (
  | { readonly kind: 'versions'; readonly range: TimeRange }
  | { readonly kind: 'ranges'; readonly a: TimeRange; readonly b: TimeRange }
  | { readonly kind: 'files'; readonly aFile: string; readonly bFile: string }
  | { readonly kind: 'incident'; readonly id: string }
);

/** Flags that an incident leaves nothing to. */
const notOfIncident = [
  ...[
    '--model',
    '--region',
    '--request-type',
    '--where',
    '--by',
    '--cold',
    '--stages',
    '--baseline',
    '--version',
  ],
  ...['--a-from', '--a-to', '--b-from', '--b-to', '--a-file', '--b-file'],
] as const;

const rangeFlags = ['--a-from', '--a-to', '--b-from', '--b-to'] as const;

/**
 * Reads the flags that say what is compared. A is the baseline, B is judged.
 *
 * @throws OperatorError TAILMARK_USAGE for flags that name no two sides.
 */
export function askedComparison(options: Options, nowMs: number): AskedComparison {
  const text = (flag: string) => textOf(options, flag);
  const baseline = text('--baseline');
  const version = text('--version');
  const id = text('--incident');
  if (id !== '') {
    const given = notOfIncident.find((flag) => givenFor(options, flag) !== undefined);
    if (given !== undefined)
      throw usage(`${given} must not be given with --incident, which says it`);
    if (options.format === 'github') {
      throw usage('--format github must not be given with --incident: it is of a release');
    }
    return { kind: 'incident', id, baseline, version };
  }
  const [aFile, bFile] = [text('--a-file'), text('--b-file')];
  const hasRanges = rangeFlags.some((flag) => text(flag) !== '');
  if (aFile !== '' || bFile !== '') {
    requireAll({ '--a-file': aFile, '--b-file': bFile }, 'both files');
    if (hasRanges) throw usage('the flags of files and of ranges exclude each other');
    if (aFile === '-' && bFile === '-') {
      throw usage('only one of --a-file and --b-file can be standard input');
    }
    return { kind: 'files', aFile, bFile, baseline, version };
  }
  if (text('--model') === '') throw usage('--model must name the model');
  if (hasRanges) {
    requireAll(Object.fromEntries(rangeFlags.map((flag) => [flag, text(flag)])), 'both ranges');
    const of = (from: string, to: string) => timeRange(text(from), text(to), nowMs, [from, to]);
    const [a, b] = [of('--a-from', '--a-to'), of('--b-from', '--b-to')];
    return { kind: 'ranges', a, b, baseline, version };
  }
  requireAll({ '--b': version, '--a': baseline }, 'two versions');
  const range = timeRange(text('--since') || '1h', text('--until') || 'now', nowMs);
  return { kind: 'versions', range, baseline, version };
}

function requireAll(values: Readonly<Record<string, string>>, what: string): void {
  const missing = Object.keys(values).filter((flag) => values[flag] === '');
  if (missing.length > 0) throw usage(`${what} must be named: ${missing.join(', ')} is missing`);
}

function textOf(options: Options, flag: string): string {
  const value = givenFor(options, flag);
  return typeof value === 'string' ? value : '';
}

function givenFor(options: Options, flag: string): unknown {
  return options[flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
}

function usage(reason: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot compare as ${reason}`, {
    hint:
      'Name two versions (--a v1 --b v2), two ranges (--a-from 26h --a-to 25h --b-from 2h --b-to 1h), ' +
      'two files (--a-file before.ndjson --b-file after.ndjson), or an incident (--incident 7422f22f).',
  });
}
