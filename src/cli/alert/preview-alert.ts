import { timeText } from '../../alert/message/times.ts';
import { type DueNow, dueNow } from '../../alert/outbox/due-now.ts';
import type { Notice, Preview } from '../../alert/receiver.ts';
import { incidentNotices } from '../../alert/routing/incident-notices.ts';
import { openRoutes } from '../../alert/routing/open-routes.ts';
import type { Route } from '../../alert/routing/route.ts';
import { sampleEvent } from '../../alert/routing/sample-event.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { hourMs } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import {
  type DeliveryStatus,
  DeliveryStore,
  type OutboxState,
  type StoredEvent,
} from '../../sink/anomalies/delivery-store.ts';
import { findAnomaly } from '../../sink/anomalies/explanation.ts';
import { type Mute, MuteStore } from '../../sink/anomalies/mute-store.ts';
import { visible } from '../../views/text/format.ts';
import type { Io, Options } from '../io.ts';
import { colorsOf } from '../text/colors.ts';
import { withClickHouse } from '../with-clickhouse.ts';

/** All that a preview is based on, apart from the configuration. */
interface Basis {
  readonly nowMs: number;
  /** True where no anomaly is stored: the one that is shown is made up. */
  readonly isSample: boolean;
  readonly events: readonly StoredEvent[];
  /** True where it was over for so long that no outbox reads it any more. */
  readonly isPast: boolean;
  readonly mutes: readonly Mute[];
  readonly given: readonly DeliveryStatus[];
  readonly state: Pick<OutboxState, 'settled' | 'sinceMs'>;
}

type Request = Preview & { readonly change: Notice['change'] };

interface RenderedPreview {
  readonly receiver: string;
  /** True if something is due now. */
  readonly isDue: boolean;
  /** The reason why it is due, or why nothing is. */
  readonly why: string;
  /** Deliveries that were accepted, refused or given up before. */
  readonly given: readonly DeliveryStatus[];
  /** Requests that would be sent now. */
  readonly due: readonly Request[];
  /** Requests of the whole anomaly to a receiver that is never away, has no mute and accepts all. */
  readonly whole: readonly Request[];
}

/** Names of changes in the text. */
const changeNames: Readonly<Record<Notice['change'], string>> = {
  opened: 'opening',
  risen: 'rise of severity',
  updated: 'update',
  resolved: 'end',
  past: 'message about what is over',
};

/** Beyond `alert.give_up_after` an outbox reads resolved anomalies for another hour. */
const slackMs = hourMs;

/** Prints what each receiver would be sent of an anomaly now, and why; sends nothing. */
export async function previewAlert(
  config: Config,
  id: string,
  options: Options,
  io: Io,
): Promise<ExitCode> {
  const routes = openRoutes(config.alert, undefined, io.env);
  const receivers = routes.map(({ receiver }) => receiver.name);
  const basis = await readBasis(config, id, receivers, io);
  const rendered = routes.map((route) => previewOf(route, basis));
  for (const { receiver } of routes) await receiver.close();
  if (options.json === true) {
    const [{ event } = { event: undefined }] = basis.events.slice(-1);
    const at = new Date(basis.nowMs).toISOString();
    const { id: anomaly, revision, state } = event ?? {};
    const what = { anomaly, revision, state, is_sample: basis.isSample, at };
    io.out(`${JSON.stringify({ ...what, receivers: rendered.map(jsonOf) })}\n`);
    return exitCodes.ok;
  }
  io.out(`${basisText(basis)}\n`);
  for (const each of rendered) printPreview(each, io);
  if (routes.length === 0) {
    io.err(`No receivers: every event goes to the topic ${config.alert.topic} alone.\n`);
  }
  return exitCodes.ok;
}

function readBasis(
  config: Config,
  id: string,
  receivers: readonly string[],
  io: Io,
): Promise<Basis> {
  const nowMs = Date.now();
  return withClickHouse(config, io, 'preview deliveries', async (client): Promise<Basis> => {
    const found = await findAnomaly(client, id);
    if ('ids' in found) throw ambiguous(id, found.ids.length);
    const mutes = await new MuteStore(client).endingAfter(nowMs);
    const newest = found.events.at(-1);
    if (newest === undefined && id !== '') throw unknownAnomaly(id);
    if (newest === undefined) {
      const event = sampleEvent('sample', nowMs, config.alert.runbook_url ?? null);
      const state = { settled: [], sinceMs: new Map(receivers.map((name) => [name, 0])) };
      const events = [{ event, writtenMs: nowMs }];
      return { nowMs, isSample: true, events, isPast: false, mutes, given: [], state };
    }
    if (newest.incident_id !== undefined) throw ofIncident(newest.id, newest.incident_id);
    const deliveries = new DeliveryStore(client);
    const sinceMs = Math.max(0, nowMs - config.alert.give_up_after - slackMs);
    const state = await deliveries.peek(receivers, sinceMs);
    const given = await deliveries.statusOf([newest.id]);
    const stored = state.events.filter(({ event }) => event.id === newest.id);
    const isPast = stored.length === 0;
    const events = isPast ? found.events.map((event) => ({ event, writtenMs: 0 })) : stored;
    return { nowMs, isSample: false, events, isPast, mutes, given, state };
  });
}

function previewOf(route: Route, basis: Basis): RenderedPreview {
  const { receiver, unmet } = route;
  const { events, state, mutes, nowMs } = basis;
  const id = events[0]?.event.id;
  const settled = state.settled.find((each) => each.receiver === receiver.name && each.id === id);
  const registeredMs = state.sinceMs.get(receiver.name);
  const given = basis.given.filter((each) => each.receiver === receiver.name);
  const { notices, why }: DueNow =
    basis.isPast && settled === undefined
      ? { notices: [], why: 'it was over for longer than alert.give_up_after' }
      : dueNow(route, { events, settled, given, registeredMs, mutes, nowMs });
  const first = events.findIndex(({ event }) => unmet(event) === undefined);
  const all = first < 0 ? [] : events.slice(first).map(({ event }) => event);
  const requestsOf = (notice: Notice): Request[] =>
    receiver.preview(notice, 'full').map((request) => ({ ...request, change: notice.change }));
  return {
    receiver: receiver.name,
    isDue: notices.length > 0,
    why,
    given,
    due: notices.flatMap(requestsOf),
    whole: incidentNotices(all, receiver).flatMap(requestsOf),
  };
}

function jsonOf({ isDue, given, ...rest }: RenderedPreview) {
  const rows = given.map(({ id: _id, receiver: _receiver, ...row }) => row);
  return { ...rest, is_due: isDue, deliveries: rows };
}

function basisText({ isSample, events, nowMs }: Basis): string {
  const at = timeText(new Date(nowMs).toISOString());
  if (isSample) return 'No anomaly is stored yet: this one is made up. Nothing is sent.\n';
  const newest = events.at(-1)?.event;
  const state = newest?.state === 'resolved' ? 'resolved' : 'open';
  return [
    `Anomaly ${newest?.id}: revision ${newest?.revision}, ${state}.`,
    `Based on this configuration, and on the deliveries and mutes in ClickHouse at ${at}. Nothing is sent.\n`,
  ].join('\n');
}

function printPreview({ receiver, why, isDue, given, due, whole }: RenderedPreview, io: Io): void {
  const { bold, dim, green, yellow } = colorsOf(io);
  const changes = [...new Set(due.map(({ change }) => changeNames[change]))].join(', ');
  const now = isDue ? green(`would be sent now: ${changes}`) : yellow('nothing would be sent now');
  io.out(`${bold(receiver)}: ${now}, ${isDue ? 'as ' : ''}${why}\n`);
  for (const each of given) io.out(`  ${dim('before:')} ${givenText(each)}\n`);
  if (isDue) printRequests(due, 'now, ', io);
  else if (whole.length > 0) {
    io.out(`  If it were never away, never muted and accepted all, it would get:\n`);
    printRequests(whole, '', io);
  }
  io.out('\n');
}

function printRequests(requests: readonly Request[], label: string, io: Io): void {
  const { dim } = colorsOf(io);
  for (const { change, target, body } of requests) {
    io.out(`  ${dim(`${label}${changeNames[change]}: ${target}`)}\n${indented(body)}\n`);
  }
}

/** "opened refused 2026-11-21 10:20:41 UTC, 2 attempts: 400 Bad Request". */
function givenText({ state, outcome, attempts, at_ms, answer }: DeliveryStatus): string {
  const tries = attempts === 0 ? '' : `, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  const said = answer === '' ? '' : `: ${visible(answer)}`;
  return `${state} ${outcome} ${timeText(new Date(at_ms).toISOString())}${tries}${said}`;
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

/** Receivers get an incident, not the anomaly of each of its series. */
function ofIncident(id: string, incidentId: string): OperatorError {
  return new OperatorError(
    'TAILMARK_ANOMALY_UNKNOWN',
    `Cannot preview the anomaly: ${id} is one series of ${incidentId}, and receivers get that one`,
    { hint: `tailmark alert preview ${incidentId}` },
  );
}
