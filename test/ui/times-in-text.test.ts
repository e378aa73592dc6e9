import { describe, expect, it } from 'vitest';
import { longSpanText, timeText } from '../../src/alert/message/times.ts';
import { clock } from '../../src/views/text/format.ts';
import { asSentence, timesInText } from '../../ui/src/format/times-in-text.ts';

const [from, to] = ['2026-11-21T23:50:30.000Z', '2026-11-22T00:10:00.000Z'];
const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];

describe('times in a text of the server', () => {
  it.each([
    [
      'of evidence',
      `baseline: ${clock(from)} to ${clock(to)}`,
      ['baseline: ', fromMs, ' to ', toMs],
    ],
    ['of a message', timeText(from), [fromMs]],
    ['of a span in it', `${longSpanText(from, to)}, 20 min`, [fromMs, ' to ', toMs, ', 20 min']],
    [
      'of a span within a day',
      longSpanText(from, '2026-11-21T23:59:00.000Z'),
      [fromMs, ' to ', Date.parse('2026-11-21T23:59:00Z')],
    ],
    ['of a verdict', `p99 is 2 times; failed at ${from}`, ['p99 is 2 times; failed at ', fromMs]],
    ['that has none', 'p99: 84 ms (95 % interval 80 ms to 90 ms)', undefined],
    ['of a version', 'version 2026-11-01 of ranker', undefined],
    ['without a zone', 'host at 2026-11-21 10:00:00', undefined],
    ['that no calendar has', 'at 2026-13-41 10:00:00Z', undefined],
    ['of nothing', '', []],
  ])('%s are found, and the rest stays', (_, text, expected) => {
    expect(timesInText(text)).toEqual(expected ?? [text]);
  });
});

describe('a reason as a sentence', () => {
  it.each([
    ['too short for a release verdict: 4 minutes', 'Too short for a release verdict: 4 minutes'],
    ['baseline: 3 ms', 'Baseline: 3 ms'],
    ['p99 is 1.5 times that of A', 'p99 is 1.5 times that of A'],
    ['487 of 679 requests', '487 of 679 requests'],
    ['', ''],
  ])('%s', (text, expected) => {
    expect(asSentence(text)).toBe(expected);
  });
});
