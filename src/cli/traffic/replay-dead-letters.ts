import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { type RejectReason, rejectReasons } from '../../decode/reject-reasons.ts';
import type { ReplayedLetters } from '../../ingest/replay/replay-letters.ts';
import type { Io, Options } from '../io.ts';
import { loadSettings } from '../load.ts';

/** Reasons for which the same event may count the next time. */
const correctable: readonly RejectReason[] = [
  'undecodable_batch',
  'late',
  'future',
  'too_many_windows',
];

/** `tailmark replay --dead-letters`. */
export async function replayDeadLetters(options: Options, io: Io): Promise<ExitCode> {
  const reasons = readReasons(options.reason);
  const isDryRun = options.dryRun === true;
  const { config } = await loadSettings(options, io);
  // Other commands do not load the client.
  const { replayLetters } = await import('../../ingest/replay/replay-letters.ts');
  const isNewGroup = options.newGroup === true;
  const done = await replayLetters({ config, reasons, isDryRun, isNewGroup });
  const { topics, dead_letter_suffix: suffix, group_id: group } = config.kafka;
  if (options.json === true) io.out(`${JSON.stringify({ group, ...asJson(done) })}\n`);
  else {
    io.out(asText(done, topics.map((topic) => `${topic}${suffix}`).join(', '), isDryRun));
    io.out(`Its place in the dead letters is that of group ${group}.\n`);
  }
  return exitCodes.ok;
}

function readReasons(given: unknown): ReadonlySet<RejectReason> {
  if (given === undefined) return new Set(correctable);
  const names = String(given).split(',');
  const known: readonly string[] = rejectReasons;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return new Set(names as RejectReason[]);
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read --reason as each must be a reason of rejected events: it is ${JSON.stringify(unknown[0])}`,
    { hint: `They are ${rejectReasons.join(', ')}.` },
  );
}

function asJson({ replayed, ...others }: ReplayedLetters) {
  return {
    replayed: totalOf(replayed),
    by_reason: replayed,
    other_reason: others.otherReason,
    gone: others.gone,
    other_log: others.otherLog,
    without_letter: others.withoutLetter,
    left: others.left,
  };
}

function asText(done: ReplayedLetters, from: string, isDryRun: boolean): string {
  const count = (n: number, text: string) => (n === 0 ? [] : [`${n} ${text}`]);
  const reasons = Object.entries(done.replayed).map(([reason, n]) => `${reason} ${n}`);
  const total = totalOf(done.replayed);
  const because = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const lines = [
    `${isDryRun ? 'Would replay' : 'Replayed'} ${total} rejected events of ${from}${because}.`,
    ...count(done.otherReason, 'have another reason; name it in --reason to replay such events.'),
    ...count(done.gone, 'are gone from their topic, cannot be decoded, or were read in part.'),
    ...count(done.otherLog, 'are of a topic that was recreated or moved since.'),
    ...count(done.withoutLetter, 'were only counted, and have no dead letter.'),
    ...count(done.left, 'dead letters are left: run the command again.'),
  ];
  return `${lines.join('\n')}\n`;
}

function totalOf(replayed: ReplayedLetters['replayed']): number {
  return Object.values(replayed).reduce((sum, n) => sum + n, 0);
}
