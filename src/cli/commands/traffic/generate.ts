import { systemClock } from '../../../base/clock.ts';
import type { ExitCode } from '../../../base/exit-codes.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import { parseDuration } from '../../../config/duration.ts';
import { defaultFleet } from '../../../generate/default-fleet.ts';
import { faultKinds } from '../../../generate/fault.ts';
import type { ModelProfile } from '../../../generate/model-profile.ts';
import { parseFault } from '../../../generate/parse-fault.ts';
import {
  type PublishTime,
  publishedTraffic,
  publishTimes,
  timedLines,
} from '../../../generate/publish/published-traffic.ts';
import type { Command } from '../../command.ts';
import { countOption, parseSpeed, parseStart } from '../../flag-values.ts';
import type { Io, Options } from '../../io.ts';
import { sendTraffic, type Traffic, type TrafficCommandParts } from '../../traffic/send-traffic.ts';
import { openFile, openKafka, openStdout, openTopic } from '../../traffic/traffic-target.ts';

/** Events further ahead of the wall clock than this are dead letters (windows.max_future). */
const MAX_FUTURE_MS = 300_000;

/** `tailmark generate`: realistic traffic, with faults by flag, to Kafka, standard output or a file. */
export function createGenerateCommand(parts: TrafficCommandParts): Command {
  return {
    flags: ['brokers', 'topic'],
    endsInOrder: true,
    help: `
Faults: ${faultKinds.join(', ')}.
Keys: model, version, region, host, request_type, from, for, and by kind stage, factor, share,
ramp, stop, every, after, knock_on; from and for count from the start. docs/how-to/generate.md shows each.

Examples:
  tailmark generate --rate 500 --forever
  tailmark generate --duration 2h --speed max            the last two hours, at once
  tailmark generate --start -1h --catch-up --forever     an hour of history, then live
  tailmark generate --fault slow_stage,stage=features,model=ranker,factor=4,share=0.3,from=10m,for=5m --duration 20m
  tailmark generate --to day.ndjson.gz --duration 24h --rate 50 --speed max --start 2026-11-01T00:00:00Z`,
    configure(command) {
      const collect = (value: string, before: readonly string[]) => [...before, value];
      command
        .option('--seed <SEED>', 'same seed, same events', '1')
        .option('--rate <N>', 'events per second, mean over a day', '200')
        .option('--duration <TIME>', 'length of the traffic in event time', '10m')
        .option('--forever', 'continue until interrupted')
        .option('--start <WHEN>', 'now, -1h or RFC 3339 (default: now at speed 1, else ends now)')
        .option('--speed <N|max>', 'event time per wall-clock time', '1')
        .option('--catch-up', 'send past events at once, then continue in real time')
        .option('--publish-at <TIME>', 'end or start of the request', 'end')
        .option('--fault <FAULT>', 'kind[,key=value...], repeatable; see below', collect, [])
        .option('--daily <SWING>', 'swing of the daily curve, 0 to 0.9', '0.4')
        .option('--models <LIST>', `of ${defaultFleet.map(({ name }) => name).join(',')}`)
        .option('--per-message <N>', 'events in one message', '1')
        .option('--to <TARGET>', 'kafka, stdout, or a file (gzipped if it ends in .gz)', 'kafka');
    },
    run: (_args, options, io) => run(options, io, parts),
  };
}

export const generateCommand: Command = createGenerateCommand({ openKafka });

async function run(options: Options, io: Io, parts: TrafficCommandParts): Promise<ExitCode> {
  const { clock = systemClock } = parts;
  const plan = readPlan(options, clock.nowMs());
  warnOfFuture(plan, io);
  const { to, traffic, pace, publishAt, perMessage } = plan;
  const { startMs, durationMs, seed } = traffic;
  const target =
    to === 'kafka'
      ? await openTopic(parts.openKafka, options, io)
      : to === 'stdout'
        ? openStdout(io)
        : openFile(to);
  const prepare = async (): Promise<Traffic> => ({
    verbs: ['Generating', 'Generated'],
    lines: timedLines(publishedTraffic(traffic, publishAt)),
    perMessage,
    // The time of connecting is excluded.
    pace: options.catchUp === true ? pace : { speed: pace.speed, eventMs: startMs },
    total: durationMs,
    reached: (lastDueMs = startMs) => lastDueMs - startMs,
    extra: () => ({ seed, start_ts: startMs }),
  });
  const print = to === 'stdout' ? io.err : io.out;
  return sendTraffic(prepare, { target, clock, json: options.json === true, print }, io);
}

function readPlan(options: Options, nowMs: number) {
  const models = pickModels(options.models);
  const speed = parseSpeed(String(options.speed));
  const catchUp = options.catchUp === true;
  if (catchUp && speed !== 1) {
    throw usage(
      `--catch-up must go with --speed 1: it is ${JSON.stringify(options.speed)}`,
      'Leave --speed out: the past is sent at once, the rest in real time.',
    );
  }
  const durationMs =
    options.forever === true ? Number.POSITIVE_INFINITY : readDuration(String(options.duration));
  const endsNow = speed !== 1 && Number.isFinite(durationMs);
  const startMs =
    options.start === undefined
      ? nowMs - (endsNow ? durationMs : 0)
      : parseStart(String(options.start), nowMs);
  const faultTexts = Array.isArray(options.fault) ? options.fault : [];
  const faults = faultTexts.map((text) => parseFault(String(text), models));
  return {
    traffic: {
      seed: String(options.seed),
      startMs,
      durationMs,
      ratePerSecond: countOption('--rate', options.rate, 0.001, 1_000_000, 'a number'),
      dailySwing: countOption('--daily', options.daily, 0, 0.9, 'a number'),
      models,
      faults,
    },
    // Catching up: an event is due at its own time, so past events are overdue.
    pace: { speed, eventMs: startMs, wallMs: catchUp ? startMs : nowMs },
    publishAt: readPublishTime(String(options.publishAt)),
    perMessage: countOption('--per-message', options.perMessage, 1, 100_000),
    to: String(options.to),
  };
}

function readPublishTime(text: string): PublishTime {
  const time = publishTimes.find((known) => known === text);
  if (time !== undefined) return time;
  throw usage(
    `--publish-at must be start or end: it is ${JSON.stringify(text)}`,
    'Leave it out: producers publish an event when its request has ended.',
  );
}

function readDuration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs > 0) return durationMs;
  throw usage(
    `--duration must be a number above 0 and a unit: it is ${JSON.stringify(text)}`,
    'Write --duration 90s, 10m, 24h or 7d; or --forever.',
  );
}

function pickModels(given: unknown): readonly ModelProfile[] {
  if (given === undefined) return defaultFleet;
  const known = defaultFleet.map(({ name }) => name);
  const names = String(given)
    .split(',')
    .map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw usage(
      `--models must name models of the fleet (${known.join(', ')}): it is ${JSON.stringify(given)}`,
      'Write --models ranker,llm.',
    );
  }
  return defaultFleet.filter(({ name }) => names.includes(name));
}

function usage(problem: string, hint: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot generate as ${problem}`, { hint });
}

/** Events from the future are dead letters, which would surprise operators. */
function warnOfFuture({ traffic, pace, to }: ReturnType<typeof readPlan>, io: Io): void {
  const { startMs, durationMs } = traffic;
  const growthMs = pace.speed > 1 ? durationMs * (1 - 1 / pace.speed) : 0;
  if (to !== 'kafka' || startMs - pace.wallMs + growthMs <= MAX_FUTURE_MS) return;
  io.err(
    'Warning: the traffic runs ahead of the clock by more than 5 minutes, which tailmark takes for ' +
      'bad timestamps and dead-letters. Start it earlier, e.g. --start -1h.\n',
  );
}
