import { randomBytes } from 'node:crypto';
import type { Command as Commander } from 'commander';
import type { Notice, Preview } from '../../alert/receivers/receiver.ts';
import { incidentNotices } from '../../alert/routing/incident-notices.ts';
import { isMutedBy } from '../../alert/routing/muted.ts';
import { openRoutes } from '../../alert/routing/open-routes.ts';
import type { Route } from '../../alert/routing/route.ts';
import { resolvedSample, sampleEvent } from '../../alert/routing/sample-event.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent, Severity } from '../../detect/event/anomaly-event.ts';
import { findAnomaly } from '../../sink/anomalies/explanation.ts';
import { type Mute, MuteStore } from '../../sink/anomalies/mute-store.ts';
import type { Command } from '../command.ts';
import type { Io, Options } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { printReportLine } from '../text/report-line.ts';
import { withClickHouse } from '../with-clickhouse.ts';

export const alert: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark alert test pager            open and end a test anomaly at one receiver, and say what it answered
  tailmark alert preview               what each receiver would get of the newest anomaly, and why
  tailmark alert preview 7422f22f

A test is marked as one in each message. It goes to the receiver whatever its match says. Secrets are left
out of previews.

Exit codes: 0 done, 1 a receiver did not accept.`,
  configure(command: Commander) {
    command
      .argument('<ACTION>', 'test or preview')
      .argument(
        '[NAME_OR_ID]',
        'the receiver to test; the anomaly to preview, by default the newest',
      );
  },
  async run([action, nameOrId], options, io) {
    const { config } = await loadSettings(options, io);
    if (action === 'test') return testReceiver(config, nameOrId, options, io);
    if (action === 'preview') return preview(config, nameOrId ?? '', options, io);
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot run as alert must be followed by test or preview: it is ${JSON.stringify(action)}`,
    );
  },
};

async function testReceiver(
  config: Config,
  name: string | undefined,
  options: Options,
  io: Io,
): Promise<ExitCode> {
  const routes = openRoutes(config.alert, undefined, io.env);
  const chosen = routes.filter((route) => route.name === name);
  if (chosen.length === 0) throw unknownReceiver(name, routes);
  const nowMs = Date.now();
  const runbook = config.alert.runbook_url ?? null;
  const opened = sampleEvent(randomBytes(8).toString('hex'), nowMs, runbook);
  const steps: Record<string, string>[] = [];
  let isGood = true;
  for (const { receiver } of chosen) {
    let memory = '';
    for (const event of [opened, resolvedSample(opened, nowMs)]) {
      const notice = noticeOf(event, [event.severity], { memory, isTest: true });
      const { outcome, answer, memory: kept } = await receiver.send(notice, 'full');
      memory = kept ?? memory;
      isGood = isGood && outcome === 'accepted';
      steps.push({ receiver: receiver.name, state: event.state, outcome, answer });
      if (options.json === true) continue;
      const level = outcome === 'accepted' ? 'ok' : 'fail';
      const what = `${receiver.name} ${event.state}`;
      printReportLine({ level, what, detail: `${outcome}: ${answer}`, hint: hintOf(outcome) }, io);
    }
  }
  if (options.json === true) io.out(`${JSON.stringify({ ok: isGood, steps })}\n`);
  for (const { receiver } of routes) await receiver.close();
  return isGood ? exitCodes.ok : exitCodes.failed;
}

function hintOf(outcome: string): string | undefined {
  if (outcome === 'failed')
    return 'A running tailmark would try again: from 1 s on, less and less often.';
  if (outcome === 'rejected')
    return 'Correct the address, key or rights; it is tried every 5 minutes.';
  if (outcome === 'unacceptable') return 'A running tailmark would send a minimal form, once.';
  return undefined;
}

/** What is needed beside the event. */
interface Given {
  readonly memory?: string;
  readonly isTest?: boolean;
}

function noticeOf(
  event: AnomalyEvent,
  severities: readonly Severity[],
  { memory = '', isTest = false }: Given = {},
): Notice {
  const change = event.state === 'resolved' ? 'resolved' : 'opened';
  return { event, change, severities, memory, isTest };
}

async function preview(config: Config, id: string, options: Options, io: Io): Promise<ExitCode> {
  const nowMs = Date.now();
  const { events, mutes } = await withClickHouse(config, 'preview deliveries', async (client) => {
    const found = await findAnomaly(client, id);
    const held = await new MuteStore(client).endingAfter(nowMs);
    if ('ids' in found) throw ambiguous(id, found.ids.length);
    const newest = found.events.at(-1);
    if (newest === undefined && id !== '') throw unknownAnomaly(id);
    return {
      events:
        newest === undefined
          ? [sampleEvent('sample', nowMs, config.alert.runbook_url ?? null)]
          : found.events,
      mutes: held,
    };
  });
  const routes = openRoutes(config.alert, undefined, io.env);
  const rendered = routes.map((route) => previewOf(route, events, mutes, nowMs));
  if (options.json === true)
    io.out(`${JSON.stringify({ anomaly: events[0]?.id, receivers: rendered })}\n`);
  else for (const each of rendered) printPreview(each, io);
  if (routes.length === 0 && options.json !== true) {
    io.err(`No receivers: every event goes to the topic ${config.alert.topic} alone.\n`);
  }
  for (const { receiver } of routes) await receiver.close();
  return exitCodes.ok;
}

interface RenderedPreview {
  readonly receiver: string;
  /** Why it gets the anomaly, or why not. */
  readonly why: string;
  readonly isSent: boolean;
  readonly requests: readonly (Preview & { readonly change: string })[];
}

function previewOf(
  { receiver, unmet }: Route,
  events: readonly AnomalyEvent[],
  mutes: readonly Mute[],
  nowMs: number,
): RenderedPreview {
  const event = events.at(-1) as AnomalyEvent;
  const first = events.findIndex((each) => unmet(each) === undefined);
  const reason = first < 0 ? unmet(event) : undefined;
  const mute = mutes.find((each) => isMutedBy(each, event, nowMs));
  const isSent = reason === undefined && mute === undefined;
  const why =
    reason ?? (mute === undefined ? 'it meets match' : `muted by ${mute.id}: ${mute.why}`);
  const notices = isSent ? incidentNotices(events.slice(first)) : [];
  const requests = notices.flatMap((notice) =>
    receiver.preview(notice, 'full').map((request) => ({ ...request, change: notice.change })),
  );
  return { receiver: receiver.name, why, isSent, requests };
}

function printPreview({ receiver, why, isSent, requests }: RenderedPreview, io: Io): void {
  const { bold, dim, green, yellow } = colorsOf(io);
  const sent = isSent ? green('sent') : yellow('not sent');
  io.out(`${bold(receiver)}: ${sent}, ${why}\n`);
  for (const { change, target, body } of requests) {
    io.out(`  ${dim(`${change}: ${target}`)}\n${indented(body)}\n`);
  }
}

function indented(body: string): string {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Mails are text.
  }
  return text.replaceAll(/^/gm, '  ');
}

function unknownReceiver(name: string | undefined, routes: readonly Route[]): OperatorError {
  const names = [...new Set(routes.map((route) => route.name))];
  const known = names.length === 0 ? 'none is configured' : `it must be one of ${names.join(', ')}`;
  return new OperatorError(
    'TAILMARK_RECEIVER_UNKNOWN',
    `Cannot test the receiver ${JSON.stringify(name ?? '')}: ${known}`,
    { hint: 'Receivers are configured in alert.receivers; see docs/how-to/alerts.md.' },
  );
}

function ambiguous(id: string, count: number): OperatorError {
  return new OperatorError(
    'TAILMARK_ANOMALY_UNKNOWN',
    `Cannot preview the anomaly: ${count} anomalies have ids that begin with ${JSON.stringify(id)}`,
    { hint: 'Give more of the id.' },
  );
}

function unknownAnomaly(id: string): OperatorError {
  return new OperatorError(
    'TAILMARK_ANOMALY_UNKNOWN',
    `Cannot preview the anomaly: no id begins with ${JSON.stringify(id)}`,
    { hint: '`tailmark anomalies --since 30d` lists ids.' },
  );
}
