import { describe, expect, it } from 'vitest';
import { anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { run } from '../captured-io.ts';

const kinds = anomalyEventSchema.shape.kind.options.join(', ');
const kept = 'model, version, request_type, region, cold_start';
const whole = ['--model', 'ranker', '--for', '2h', '--why', 'load test'];

describe('tailmark mute', () => {
  // None of them asks ClickHouse: there is none here.
  it.each<[string, readonly string[], string]>([
    ['no duration', ['--model', 'ranker', '--why', 'x'], '--for must say how long, such as 2h'],
    ['a bare number', [...whole, '--for', '2'], '--for must be a duration such as 2h: it is "2"'],
    ['too long', [...whole, '--for', '31d'], '--for must be at most 30d: it is "31d"'],
    ['a time alone', ['--at', '2999-01-01T00:00:00Z'], '--for must say how long, such as 2h'],
    [
      'the past',
      [...whole, '--at', '2020-01-01T00:00:00Z'],
      '--at and --for must end ahead of now',
    ],
    [
      'a year far ahead',
      [...whole, '--at', '2299-01-01T00:00:00Z'],
      '--at must be at most 366 days ahead: it is "2299-01-01T00:00:00Z"',
    ],
    ['no reason', ['--model', 'x', '--for', '2h'], '--why must say the reason, in at most 500'],
    ['nothing', ['--for', '2h', '--why', 'x'], '--model, --kind or --where must say what to mute'],
    [
      'an empty model',
      [...whole, '--model', ''],
      '--model must have 1 to 256 characters: it is ""',
    ],
    [
      'a wrong kind',
      [...whole, '--kind', 'drift', '--kind', 'error_rates'],
      `--kind must be one of ${kinds}: it is "error_rates"\nhint: Did you mean error_rate?`,
    ],
    [
      'a kind of no likeness',
      [...whole, '--kind', 'x'],
      `--kind must be one of ${kinds}: it is "x"`,
    ],
    [
      'an unknown dimension',
      [...whole, '--where', 'zone=a'],
      '--where must be DIMENSION=PATTERN, with one of service, model',
    ],
    [
      'a dimension that is not kept',
      [...whole, '--where', 'host=a'],
      `--where must name one of windows.dimensions (${kept}): it is "host=a"`,
    ],
    [
      'a dimension twice',
      [...whole, '--where', 'region=eu', '--where', 'region=us'],
      '--where must name each dimension once, and names region twice: it is ["region=eu","region=us"]',
    ],
    ['a list too', [...whole, '--history'], '--history must stand alone: it lists mutes'],
    ['an end of one too', [...whole, '--end', '3f1c2a90'], '--end must stand alone'],
  ])('refuses %s', async (_, argv, message) => {
    const { exitCode, out, err } = await run(['mute', ...argv]);
    expect([exitCode, out]).toEqual([64, '']);
    expect(err).toContain(`error: Cannot mute as ${message}`);
    expect(err).toContain('\nhint: ');
  });
});
