import { userInfo } from 'node:os';
import {
  mostAheadMs,
  mostMutedMs,
  muteJson,
  muteOf,
  muteRequestSchema,
} from '../../alert/routing/mute-request.ts';
import { unseenValues } from '../../alert/routing/unseen-values.ts';
import {
  attributeKey,
  dimensions,
  isAttributeName,
  isDimensionName,
} from '../../base/dimensions.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { isoSecondsOf } from '../../base/time.ts';
import { closest } from '../../config/closest.ts';
import { parseDuration } from '../../config/duration.ts';
import type { Config } from '../../config/schema.ts';
import { anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { durationText } from '../../contract/format.ts';
import { type Mute, MuteStore } from '../../sink/anomalies/mute-store.ts';
import { seenValuesOf } from '../../sink/read-seen-values.ts';
import { visible } from '../../views/text/format.ts';
import type { Command } from '../command.ts';
import { timeMsOf } from '../flag-values.ts';
import type { Io, Options } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { renderTable } from '../text/table.ts';
import { withClickHouse } from '../with-clickhouse.ts';

export const mute: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark mute --model ranker --for 2h --why 'load test'
  tailmark mute --model 'ranker*' --where region=eu-west-1 --for 90m --at 2026-12-01T20:00:00Z --why 'failover drill'
  tailmark mute                        list those that hold now or later
  tailmark mute --end 3f1c2a90         end one now

All of --model, --kind and --where must hold; of several models or kinds one suffices. A model or a value
that no event of the last day has is muted too, with a note. Muted anomalies are evaluated, recorded and
published to alert.topic as always; no other receiver gets them. One that is still open when the mute ends
is delivered then. One that was delivered before has its end delivered all the same. A mute takes effect
within 5 seconds.

Exit codes: 0 done, 1 no such mute.`,
  configure(command) {
    const collect = (value: string, before: string[] = []) => [...before, value];
    command
      .option('--model <PATTERN>', 'mute this model; * matches any text; repeatable', collect)
      .option('--kind <KIND>', 'mute this kind of anomaly; repeatable', collect)
      .option('--where <DIMENSION=PATTERN>', 'mute this value of a dimension; repeatable', collect)
      .option('--for <DURATION>', 'how long, at most 30d')
      .option('--at <TIME>', 'begin: now, or RFC 3339', 'now')
      .option('--why <TEXT>', 'the reason, for those who wonder later')
      .option('--end <ID>', 'end this mute now')
      .option('--history', 'list who added and who ended those of the last 30 days');
  },
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const nowMs = Date.now();
    const isNew = isRequest(options);
    if (isNew && options.end !== undefined) {
      throw usage(
        '--end must stand alone: it ends a mute, and the other options add one',
        options.end,
      );
    }
    if (options.history === true && (isNew || options.end !== undefined)) {
      throw usage('--history must stand alone: it lists mutes', undefined);
    }
    const request = isNew ? requestOf(options, config, nowMs) : undefined;
    return withClickHouse(config, io, 'read and write mutes', async (client) => {
      const store = new MuteStore(client);
      if (options.end !== undefined) await endMute(store, String(options.end), nowMs, io, options);
      else if (request !== undefined) {
        const added = muteOf(request, { who: userName(), nowMs });
        await store.put(added);
        const notes = await unseenValues(added, nowMs, seenValuesOf(client));
        showAdded(added, notes, nowMs, io, options);
      } else if (options.history === true) {
        listHistory(await store.endingAfter(nowMs - mostMutedMs), nowMs, io, options);
      } else listMutes(await store.endingAfter(nowMs), nowMs, io, options);
      return exitCodes.ok;
    });
  },
};

function isRequest(options: Options): boolean {
  const names = ['model', 'kind', 'where', 'for', 'why'];
  return options.at !== 'now' || names.some((name) => options[name] !== undefined);
}

function requestOf(options: Options, { windows }: Pick<Config, 'windows'>, nowMs: number) {
  const fromMs = timeOf(String(options.at), nowMs);
  if (options.for === undefined) throw usage('--for must say how long, such as 2h', undefined);
  const forMs = parseDuration(String(options.for));
  if (forMs === undefined) throw usage('--for must be a duration such as 2h', options.for);
  if (forMs > mostMutedMs) throw usage('--for must be at most 30d', options.for);
  if (forMs === 0) throw usage('--for must be above 0', options.for);
  if (fromMs > nowMs + mostAheadMs) throw usage('--at must be at most 366 days ahead', options.at);
  if (fromMs + forMs <= nowMs) throw usage('--at and --for must end ahead of now', options.at);
  const conditions = listOf(options.where).map(conditionOf);
  const kept: readonly string[] = windows.dimensions;
  const unkept = conditions.find(([name]) => !kept.includes(name));
  if (unkept !== undefined) {
    const rule = `--where must name one of windows.dimensions (${kept.join(', ')})`;
    throw usage(rule, unkept.join('='));
  }
  const names = conditions.map(([name]) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw usage(`--where must name each dimension once, and names ${twice} twice`, options.where, {
      hint: 'Add a mute for each value, or use * in one pattern.',
    });
  }
  const parsed = muteRequestSchema.safeParse({
    models: options.model ?? [],
    kinds: options.kind ?? [],
    dimensions: Object.fromEntries(conditions.filter(([name]) => !isAttributeName(name))),
    attributes: Object.fromEntries(
      conditions.flatMap(([name, pattern]) =>
        isAttributeName(name) ? [[attributeKey(name), pattern]] : [],
      ),
    ),
    from_ms: fromMs,
    until_ms: fromMs + forMs,
    why: options.why ?? '',
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const [field, index] = issue?.path ?? [];
  if (field === 'why')
    throw usage('--why must say the reason, in at most 500 characters', options.why);
  if (field === 'kinds') throw wrongKind(String(listOf(options.kind)[Number(index)]));
  if (field === 'models' && typeof index === 'number') {
    throw usage('--model must have 1 to 256 characters', listOf(options.model)[index]);
  }
  throw usage('--model, --kind or --where must say what to mute', undefined);
}

function wrongKind(kind: string): OperatorError {
  const kinds = anomalyEventSchema.shape.kind.options;
  const near = closest(kind, kinds);
  const rule = `--kind must be one of ${kinds.join(', ')}`;
  return usage(rule, kind, near === undefined ? {} : { hint: `Did you mean ${near}?` });
}

function showAdded(
  added: Mute,
  notes: readonly string[],
  nowMs: number,
  io: Io,
  options: Options,
): void {
  if (options.json === true) {
    io.out(`${JSON.stringify({ mute: muteJson(added), notes })}\n`);
    return;
  }
  const when = whenOf(added, nowMs);
  io.out(`Muted ${whatOf(added)} ${when}. End it: tailmark mute --end ${added.id}\n`);
  for (const note of notes) io.err(`note: ${visible(note)} The mute holds all the same.\n`);
}

async function endMute(
  store: MuteStore,
  id: string,
  nowMs: number,
  io: Io,
  options: Options,
): Promise<void> {
  const ended = await store.end(id, userName(), nowMs);
  if (ended === undefined) {
    throw new OperatorError(
      'TAILMARK_MUTE_UNKNOWN',
      `Cannot end the mute: none that holds now or later has the id ${JSON.stringify(id)}`,
      { hint: '`tailmark mute` lists them.' },
    );
  }
  if (options.json === true) io.out(`${JSON.stringify({ mute: muteJson(ended) })}\n`);
  else if (ended.fromMs === nowMs) io.out(`Ended before it began: ${whatOf(ended)}.\n`);
  else {
    io.out(`Ended: ${whatOf(ended)}. What is still open is delivered within 5 seconds.\n`);
  }
}

function listMutes(mutes: readonly Mute[], nowMs: number, io: Io, options: Options): void {
  if (options.json === true) {
    io.out(`${JSON.stringify({ mutes: mutes.map(muteJson) })}\n`);
    return;
  }
  if (mutes.length === 0) {
    io.err('No mutes. `tailmark mute --model NAME --for 2h --why TEXT` adds one.\n');
    return;
  }
  const table = renderTable({
    columns: ['ID', 'WHAT', 'WHEN', 'WHY', 'WHO'],
    rows: mutes.map((each) => [
      each.id,
      whatOf(each),
      whenOf(each, nowMs),
      visible(each.why),
      adderOf(each),
    ]),
    color: io.color,
    maxWidth: io.columnCount,
  });
  io.out(`${table}\n`);
}

/** The newest first. */
function listHistory(mutes: readonly Mute[], nowMs: number, io: Io, options: Options): void {
  const newest = mutes.toSorted((a, b) => b.fromMs - a.fromMs);
  if (options.json === true) {
    io.out(`${JSON.stringify({ mutes: newest.map(muteJson) })}\n`);
    return;
  }
  if (newest.length === 0) {
    io.err('No mutes in the last 30 days.\n');
    return;
  }
  const table = renderTable({
    columns: ['ID', 'WHAT', 'FROM', 'UNTIL', 'WHY', 'WHO', 'ENDED BY'],
    rows: newest.map((each) => [
      each.id,
      whatOf(each),
      isoSecondsOf(each.fromMs),
      isoSecondsOf(each.untilMs),
      visible(each.why),
      adderOf(each),
      endOf(each, nowMs),
    ]),
    color: io.color,
    maxWidth: io.columnCount,
  });
  io.out(`${table}\n`);
}

/** `ann`, or `operator for ann`. */
function adderOf({ who, onBehalfOf }: Mute): string {
  return visible(onBehalfOf === undefined ? who : `${who} for ${onBehalfOf}`);
}

function endOf({ fromMs, untilMs, endedBy }: Mute, nowMs: number): string {
  if (endedBy !== undefined) return visible(endedBy);
  if (fromMs > nowMs) return 'begins later';
  return untilMs > nowMs ? 'still holds' : 'ran out';
}

/** `model ranker*, region eu-west-1`. */
function whatOf({ models, kinds, dimensions: named }: Mute): string {
  const parts = [
    ...(models.length > 0 ? [`model ${models.join(' or ')}`] : []),
    ...(kinds.length > 0 ? [`kind ${kinds.join(' or ')}`] : []),
    ...Object.entries(named).map(([dimension, value]) => `${dimension} ${value}`),
  ];
  return visible(parts.join(', '));
}

/** `for 2 h, until 2026-11-01T14:00:00Z`. */
function whenOf({ fromMs, untilMs }: Mute, nowMs: number): string {
  if (fromMs > nowMs) return `from ${isoSecondsOf(fromMs)} until ${isoSecondsOf(untilMs)}`;
  return `for ${durationText(untilMs - nowMs)}, until ${isoSecondsOf(untilMs)}`;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function conditionOf(text: string): [string, string] {
  const at = text.indexOf('=');
  const dimension = text.slice(0, Math.max(0, at));
  if (isDimensionName(dimension) && at < text.length - 1) return [dimension, text.slice(at + 1)];
  throw usage(
    `--where must be DIMENSION=PATTERN, with one of ${dimensions.join(', ')}, or attributes.NAME`,
    text,
  );
}

function timeOf(text: string, nowMs: number): number {
  const ms = text === 'now' ? nowMs : timeMsOf(text);
  if (Number.isNaN(ms)) throw usage('--at must be now or an RFC 3339 time', text);
  return ms;
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

const example = "For example: tailmark mute --model ranker --for 2h --why 'load test'";

function usage(
  rule: string,
  value: unknown,
  { hint = example }: { readonly hint?: string } = {},
): OperatorError {
  const shown = value === undefined ? '' : `: it is ${JSON.stringify(value)}`;
  return new OperatorError('TAILMARK_USAGE', `Cannot mute as ${rule}${shown}`, { hint });
}
