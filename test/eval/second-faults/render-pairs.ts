import { minuteMs } from '../../../src/base/time.ts';
import type { PairOutcome, PairsOutcome, ShortOutcome } from './run-pairs.ts';

/** Time after its fault within which an anomaly must have ended. */
const endMs = 4 * minuteMs;

/** Renders what became of the second faults, and how soon short ones ended, as Markdown tables. */
export function renderPairs(outcomes: readonly PairsOutcome[]): string {
  const pairs = outcomes.flatMap((outcome) => outcome.pairs);
  const short = outcomes.flatMap((outcome) => outcome.short);
  const isSoon = ({ afterMs }: PairOutcome) => afterMs < 5 * minuteMs;
  const isOpen = ({ sinceEndMs }: PairOutcome) => sinceEndMs < 0;
  return [
    line([
      'the second fault begins',
      'pairs',
      'pages alone',
      'pages here',
      'share',
      'pages a fault',
    ]),
    rule(6),
    pairsRow('while the first lasts', pairs.filter(isOpen)),
    pairsRow(
      'within five minutes of its end',
      pairs.filter((pair) => !isOpen(pair)),
    ),
    pairsRow('2 to 5 min after the first began', pairs.filter(isSoon)),
    pairsRow(
      '5 to 20 min after the first began',
      pairs.filter((pair) => !isSoon(pair)),
    ),
    pairsRow('**all**', pairs),
    '',
    line([
      'a fault of two minutes',
      'faults',
      'paged',
      'over within 4 min',
      'share',
      'longest, min',
      'pages a fault',
    ]),
    rule(7),
    ...[5, 20].map((rate) =>
      shortRow(
        `${rate} requests a second`,
        short.filter((each) => each.ratePerSecond === rate),
      ),
    ),
    '',
  ].join('\n');
}

function pairsRow(name: string, pairs: readonly PairOutcome[]): string {
  const alone = pairs.filter(({ isSecondPagedAlone }) => isSecondPagedAlone);
  const here = alone.filter(({ isSecondPaged }) => isSecondPaged);
  const faults = alone.length + pairs.filter(({ isFirstPagedAlone }) => isFirstPagedAlone).length;
  const pages = pairs.reduce((sum, each) => sum + each.pages.length, 0);
  const counts = [pairs.length, alone.length, here.length].map(String);
  return line([name, ...counts, percent(here.length / alone.length), (pages / faults).toFixed(2)]);
}

function shortRow(name: string, short: readonly ShortOutcome[]): string {
  const paged = short.filter(({ pages }) => pages > 0);
  const openMs = paged.map(({ openAfterMs }) => openAfterMs ?? Number.POSITIVE_INFINITY);
  const soon = openMs.filter((ms) => ms <= endMs);
  const pages = paged.reduce((sum, each) => sum + each.pages, 0);
  const counts = [short.length, paged.length, soon.length].map(String);
  const longest = (Math.max(...openMs) / minuteMs).toFixed(1);
  const rates = [percent(soon.length / paged.length), longest, (pages / paged.length).toFixed(2)];
  return line([name, ...counts, ...rates]);
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function rule(columns: number): string {
  return `|${'---|'.repeat(columns)}`;
}
