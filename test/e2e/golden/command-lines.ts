import { Readable } from 'node:stream';
import { minuteOf } from '../dashboard/kit/minute-of.ts';
import type { Rig } from '../kit/rig.ts';
import { openId, startMs } from './golden-data.ts';

const iso = (ms: number) => new Date(ms).toISOString();
const range = ['--since', iso(startMs), '--until', iso(startMs + 20 * 60_000)];
const versions = ['--model', 'ranker', '--a', 'v1', '--b', 'v2'];
/** Recorded events, as a file has them. */
const events = [
  ...minuteOf('ranker', startMs, 120, 40),
  ...minuteOf('ranker', startMs + 60_000, 120, 90, { version: 'v2', region: 'us-east-1' }),
];
const recorded = events.map((event) => `${JSON.stringify(event)}\n`).join('');

/** Command lines, by the name of the recorded file. */
export const commandLines: Readonly<Record<string, readonly (readonly string[])[]>> = {
  tails: [
    ['tails', ...range],
    ['tails', ...range, '--json'],
    ['tails', ...range, '--model', 'ranker', '--by', 'version'],
    ['tails', ...range, '--model', 'ranker', '--by', 'host', '--stage', 'queue'],
    ['tails', ...range, '--model', 'ranker', '--cold', '--resolution', '1m'],
    ['tails', '--input', '-'],
    ['tails', '--input', '-', '--by', 'version', '--json'],
    ['tails', ...range, '--model', 'nobody'],
    ['tails', ...range, '--by', 'weather'],
    ['tails', '--since', 'yesterday'],
  ],
  compare: [
    ['compare', ...range, ...versions],
    ['compare', ...range, ...versions, '--json'],
    ['compare', ...range, ...versions, '--format', 'github'],
    ['compare', ...range, '--model', 'ranker', '--a', 'v1', '--b', 'v9'],
    ['compare', ...range],
  ],
  anomalies: [
    ['anomalies', '--since', '2h'],
    ['anomalies', '--since', '2h', '--json'],
    ['anomalies', '--since', '2h', '--state', 'open', '--deliveries'],
    ['explain', openId],
    ['explain', openId, '--json'],
    ['explain', 'nobody'],
    ['mute', '--history'],
    ['mute', '--history', '--json'],
  ],
  verify: [['verify'], ['verify', '--json']],
};

/** A command line with its exit code and all that it prints. */
export async function printed(rig: Rig, argv: readonly string[]): Promise<string> {
  const { exitCode, out, err } = await rig.cli(argv, { stdin: Readable.from([recorded]) });
  const shown = argv.map((part) => (part.includes(' ') || part === '' ? `'${part}'` : part));
  const errors = err === '' ? [] : ['standard error:', err.trimEnd()];
  return [
    `$ tailmark ${shown.join(' ')}`,
    `exit code ${exitCode}`,
    out.trimEnd(),
    ...errors,
    '',
  ].join('\n');
}
