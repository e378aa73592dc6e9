import { describe, expect, it } from 'vitest';
import { chaosOptions } from './chaos-options.ts';
import { faultKinds } from './fault-kinds.ts';
import { silenceFaults } from './silence-faults.ts';

describe('chaosOptions', () => {
  it.each([
    [['--cycles', '0'], '--cycles must be a whole number from 1 to 10000: it is "0"'],
    [['--cycles', 'many'], '--cycles must be a whole number'],
    [['--events', '1e4.5'], '--events must be a whole number'],
    [['--events', '9999'], '--events must be a whole number from 10000'],
    [['--outage', '10'], '--outage must be a duration from 1s to 1h: it is 10'],
    [['--outage', '2h'], '--outage must be a duration from 1s to 1h: it is 2h'],
    [['--outage', '1m', '--cycles', '3'], '--outage must stand without --cycles'],
    [['--outage', '1m', '--rate', '10'], '--rate must be a whole number from 1000'],
    [['--kinds', 'kill-broker,kill'], '--kinds must name kill-ingester, pause-ingester'],
    [['--rate', '10000'], '--rate must stand with --outage'],
    [
      ['--silence', '--rate', '10000'],
      '--silence must stand with --rounds, --faults, --at-once, --shorter and --seed',
    ],
    [['--silence', '--rounds', '0'], '--rounds must be a whole number from 1'],
    [['--silence', '--faults', 'kill-broker'], '--faults must name clickhouse-stopped'],
    [['--silence', '--shorter', '21'], '--shorter must be a whole number from 1 to 20'],
    [['--rounds', '3'], '--rounds, --faults, --at-once and --shorter must stand with --silence'],
    [['--cycle', '3'], 'its options must be known'],
    [['3'], 'its options must be known'],
  ])('refuses %j', (argv, problem) => {
    expect(() => chaosOptions(argv)).toThrow(problem);
  });

  it.each([
    [
      ['--silence'],
      { kind: 'silence', seed: '1', rounds: 20, faults: silenceFaults, shorter: 1, atOnce: 1 },
    ],
    [
      ['--silence', '--rounds', '4', '--at-once', '2', '--faults', 'partition-old'],
      {
        ...{ kind: 'silence', seed: '1', rounds: 4, faults: ['partition-old'] },
        ...{ shorter: 1, atOnce: 2 },
      },
    ],
    [[], { kind: 'cycles', seed: '1', cycles: 100, kinds: faultKinds, events: 10_000_000 }],
    [
      ['--cycles', '8', '--events', '20000', '--seed', 'x'],
      { kind: 'cycles', seed: 'x', cycles: 8, kinds: faultKinds, events: 20_000 },
    ],
    [
      ['--kinds', 'kill-broker,scale-1-4-2'],
      {
        kind: 'cycles',
        seed: '1',
        cycles: 100,
        kinds: ['kill-broker', 'scale-1-4-2'],
        events: 10_000_000,
      },
    ],
    [
      ['--outage', '10m'],
      { kind: 'outage', seed: '1', outageMs: 600_000, eventsPerSecond: 100_000 },
    ],
    [
      ['--outage', '90s', '--rate', '5000'],
      { kind: 'outage', seed: '1', outageMs: 90_000, eventsPerSecond: 5_000 },
    ],
  ])('accepts %j', (argv, options) => {
    expect(chaosOptions(argv)).toEqual(options);
  });
});
