import { userInfo } from 'node:os';
import { mostMutedMs, muteOf, muteRequestSchema } from '../../alert/routing/mute-request.ts';
import { dimensions } from '../../base/dimensions.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { parseDuration } from '../../config/duration.ts';
import type { Config } from '../../config/schema.ts';
import { epochMsOf } from '../../decode/epoch-ms-of.ts';
import { durationText } from '../../detect/event/format.ts';
import { type Mute, MuteStore } from '../../sink/anomalies/mute-store.ts';
import type { Command } from '../command.ts';
import type { Io, Options } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { visible } from '../text/format.ts';
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

Muted anomalies are evaluated, recorded and published to alert.topic as always; no other receiver gets
them. One that is still open when the mute ends is delivered then. One that was delivered before has its
end delivered all the same. A mute takes effect within 5 seconds.

Exit codes: 0 done.`,
  configure(command) {
    const collect = (value: string, before: string[] = []) => [...before, value];
    command
      .option('--model <PATTERN>', 'mute this model; * matches any text; repeatable', collect)
      .option('--kind <KIND>', 'mute this kind of anomaly; repeatable', collect)
      .option('--where <DIMENSION=PATTERN>', 'mute this value of a dimension; repeatable', collect)
      .option('--for <DURATION>', 'how long, at most 30d')
      .option('--at <TIME>', 'begin: now, or RFC 3339', 'now')
      .option('--why <TEXT>', 'the reason, for those who wonder later')
      .option('--end <ID>', 'end this mute now');
  },
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const nowMs = Date.now();
    return withClickHouse(config, 'read and write mutes', async (client) => {
      const store = new MuteStore(client);
      if (options.end !== undefined) await endMute(store, String(options.end), nowMs, io, options);
      else if (isRequest(options)) await addMute(store, options, config, nowMs, io);
      else listMutes(await store.endingAfter(nowMs), nowMs, io, options);
      return exitCodes.ok;
    });
  },
};

function isRequest(options: Options): boolean {
  return ['model', 'kind', 'where', 'for', 'why'].some((name) => options[name] !== undefined);
}

async function addMute(
  store: MuteStore,
  options: Options,
  { windows }: Pick<Config, 'windows'>,
  nowMs: number,
  io: Io,
): Promise<void> {
  const fromMs = timeOf(String(options.at), nowMs);
  const forMs = options.for === undefined ? undefined : parseDuration(String(options.for));
  if (forMs === undefined) {
    throw usage('--for must be a duration such as 2h', options.for);
  }
  if (forMs > mostMutedMs) throw usage('--for must be at most 30d', options.for);
  if (forMs === 0) throw usage('--for must be above 0', options.for);
  if (fromMs + forMs <= nowMs) throw usage('--at and --for must end ahead of now', options.at);
  const conditions = listOf(options.where).map(conditionOf);
  const unkept = conditions.find(([name]) => !windows.dimensions.some((kept) => kept === name));
  if (unkept !== undefined) {
    throw usage(
      `--where must name one of windows.dimensions, which ${unkept[0]} is not`,
      options.where,
    );
  }
  const parsed = muteRequestSchema.safeParse({
    models: options.model ?? [],
    kinds: options.kind ?? [],
    dimensions: Object.fromEntries(conditions),
    from_ms: fromMs,
    until_ms: fromMs + forMs,
    why: options.why ?? '',
    who: userInfo().username,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.path[0] === 'why') throw usage('--why must say the reason', options.why);
    if (issue?.path[0] === 'kinds') throw usage('--kind must be a kind of anomaly', options.kind);
    throw usage('--model, --kind or --where must say what to mute', undefined);
  }
  const added = muteOf(parsed.data);
  await store.put(added);
  if (options.json === true) io.out(`${JSON.stringify({ mute: jsonOf(added) })}\n`);
  else
    io.out(
      `Muted ${whatOf(added)} ${whenOf(added, nowMs)}. End it: tailmark mute --end ${added.id}\n`,
    );
}

async function endMute(
  store: MuteStore,
  id: string,
  nowMs: number,
  io: Io,
  options: Options,
): Promise<void> {
  const found = (await store.endingAfter(nowMs)).find((each) => each.id === id);
  if (found === undefined) {
    throw new OperatorError(
      'TAILMARK_MUTE_UNKNOWN',
      `Cannot end the mute: none that holds now or later has the id ${JSON.stringify(id)}`,
      { hint: '`tailmark mute` lists them.' },
    );
  }
  const ended = { ...found, fromMs: Math.min(found.fromMs, nowMs), untilMs: nowMs };
  await store.put(ended);
  if (options.json === true) io.out(`${JSON.stringify({ mute: jsonOf(ended) })}\n`);
  else io.out(`Ended: ${whatOf(ended)}. What is still open is delivered now.\n`);
}

function listMutes(mutes: readonly Mute[], nowMs: number, io: Io, options: Options): void {
  if (options.json === true) {
    io.out(`${JSON.stringify({ mutes: mutes.map(jsonOf) })}\n`);
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
      visible(each.who),
    ]),
    color: io.color,
    maxWidth: io.columnCount,
  });
  io.out(`${table}\n`);
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
  const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  if (fromMs > nowMs) return `from ${iso(fromMs)} until ${iso(untilMs)}`;
  return `for ${durationText(untilMs - nowMs)}, until ${iso(untilMs)}`;
}

function jsonOf({ fromMs, untilMs, ...rest }: Mute) {
  const from = new Date(fromMs).toISOString();
  return { ...rest, from, until: new Date(untilMs).toISOString() };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function conditionOf(text: string): [string, string] {
  const at = text.indexOf('=');
  const dimension = text.slice(0, Math.max(0, at));
  const isKnown = dimensions.some((known) => known === dimension);
  if (isKnown && at < text.length - 1) return [dimension, text.slice(at + 1)];
  throw usage(`--where must be DIMENSION=PATTERN, with one of ${dimensions.join(', ')}`, text);
}

function timeOf(text: string, nowMs: number): number {
  const ms = text === 'now' ? nowMs : epochMsOf(text);
  if (Number.isNaN(ms)) throw usage('--at must be now or an RFC 3339 time', text);
  return ms;
}

function usage(rule: string, value: unknown): OperatorError {
  const shown = value === undefined ? '' : `: it is ${JSON.stringify(value)}`;
  return new OperatorError('TAILMARK_USAGE', `Cannot mute as ${rule}${shown}`, {
    hint: "For example: tailmark mute --model ranker --for 2h --why 'load test'",
  });
}
