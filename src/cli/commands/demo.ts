import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { createLog } from '../../base/telemetry/log.ts';
import { minuteMs } from '../../base/time.ts';
import { type Config, configSchema } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { formatMs } from '../../contract/format.ts';
import { startPipeline } from '../../pipeline.ts';
import { rowsOf } from '../../sink/client/read-query.ts';
import { migrate } from '../../sink/migrate/migrate.ts';
import { verify } from '../../sink/verify.ts';
import { readTails, type StageTails } from '../../sink/windows/read-tails.ts';
import type { Command } from '../command.ts';
import {
  DemoEvents,
  demoVerdict,
  injectionText,
  isOfRegression,
  othersFound,
  plot,
  sendEvents,
  sendLive,
  type Timeline,
  timelineOf,
} from '../demo/demo-traffic.ts';
import type { DemoConnection, DemoTransport } from '../demo/demo-transport.ts';
import { exploreText } from '../demo/explore-text.ts';
import { openTransport } from '../demo/open-transport.ts';
import { untilEnter } from '../demo/until-enter.ts';
import type { Io } from '../io.ts';
import { colorsOf } from '../text/colors.ts';
import { createProgress } from '../text/progress.ts';
import { renderTable, right } from '../text/table.ts';
import { withClickHouse } from '../with-clickhouse.ts';
import { anomalyText } from './anomalies.ts';

/** Longest wait until sent events are stored. */
const PATIENCE_MS = 90_000;

const ONCE_TEXT = `
Run the demo without --once to keep the regression until you press Enter. It then prints links to the open
incident, and commands to query and verify it.
`;

const defaultWindows = configSchema.parse({}).detect.resolve_windows;

export const demo: Command = {
  endsInOrder: true,
  help: `
Starts a real Kafka and a real ClickHouse on this machine, without Docker. Sends ${plot.historyMs / minuteMs} minutes of
history, then live traffic at ${plot.speed} times real speed. The ${plot.stage} stage of ${plot.model} turns slow for ${plot.share * 100} % of
the requests in one region. The fault stays until Enter is pressed, or with --once ends by itself.
An anomaly is over after ${plot.resolveWindows} clear windows instead of ${defaultWindows} (detect.resolve_windows), as this
traffic does not flap.

Without Java 17 or later (or, the first time, Maven) it runs without Kafka: its events go straight
into the pipeline.

Examples:
  tailmark demo              the fault stays until Enter; then it keeps running, and Ctrl-C stops it
  tailmark demo --once       exits at the end, with an exit code

Exit codes of --once: 0 the regression was found and blamed correctly, 1 otherwise.`,
  configure(command) {
    command
      .option(
        '--once',
        'exit at the end; exit code 1 if the regression was missed or blamed on another stage',
      )
      .option('--dir <DIR>', 'data directory of the demo; emptied at the start', '.tailmark/demo');
  },
  async run(_args, options, io) {
    let transport: DemoTransport;
    try {
      transport = await openTransport(String(options.dir), io);
    } catch (error) {
      if (!io.signal.aborted) throw error;
      io.err('Interrupted before the demo was ready. Nothing is left running.\n');
      return exitCodes.failed;
    }
    try {
      return await new Demo(transport, io, options.json === true).play(options.once === true);
    } finally {
      await transport.servers.stop();
    }
  },
};

/** Result of the demo, for --json and for the exit code. */
interface Outcome {
  readonly ok: boolean;
  /** Events of the history, and of all of the demo. */
  readonly sent: { readonly history: number; readonly total: number };
  readonly problems: readonly string[];
  /** Anomalies found in events that others sent. */
  readonly others: readonly string[];
}

const pipelineEnded: Outcome = {
  ok: false,
  problems: ['the pipeline ended'],
  others: [],
  sent: { history: 0, total: 0 },
};

class Demo {
  readonly #transport: DemoTransport;
  readonly #logPath: string;
  readonly #io: Io;
  readonly #json: boolean;
  readonly #config: Config;
  /** The last event of each anomaly. */
  readonly #latest = new Map<string, AnomalyEvent>();
  #timeline: Timeline | undefined;

  constructor(transport: DemoTransport, io: Io, json: boolean) {
    const { dir, clickhouse } = transport.servers;
    this.#transport = transport;
    this.#logPath = join(dir, 'tailmark.log');
    this.#io = io;
    this.#json = json;
    this.#config = configSchema.parse({
      ...transport.settings,
      clickhouse: { url: clickhouse.url, database: clickhouse.database },
      ingest: { flush_interval: '1s' },
      detect: { interval: '500ms', resolve_windows: plot.resolveWindows },
      http: { listen: '127.0.0.1:0' },
    });
  }

  async play(once: boolean): Promise<ExitCode> {
    const config = this.#config;
    const transport = this.#transport;
    this.#print(transport.addresses);
    await migrate(config.clickhouse);
    await transport.prepare(config);
    const log = createLog({ level: 'info', fd: openSync(this.#logPath, 'a') });
    const pipeline = await startPipeline(config, {
      roles: ['ingest', 'detect', 'serve'],
      stdin: transport.stdin,
      log,
    });
    let connection: DemoConnection | undefined;
    try {
      this.#print(`dashboard ${pipeline.url}/`);
      connection = await transport.connect(config, (event) => this.#onAnomaly(event));
      const outcome = await Promise.race([
        this.#story(connection, once ? undefined : pipeline.url),
        pipeline.done.then(() => pipelineEnded),
      ]);
      if (this.#io.signal.aborted) return exitCodes.ok;
      await this.#report(outcome, once);
      if (!once) await Promise.race([this.#sendNormalTraffic(connection), pipeline.done]);
      return outcome.ok ? exitCodes.ok : exitCodes.failed;
    } finally {
      await connection?.close();
      await pipeline.stop();
    }
  }

  /**
   * Plays the past, normal traffic, the regression and the recovery.
   *
   * @param url of the dashboard, where the regression stays until Enter
   */
  async #story({ send }: DemoConnection, url: string | undefined): Promise<Outcome> {
    const { signal } = this.#io;
    // The end of sending the past is unknown in advance: 12 s is typical.
    const timeline = timelineOf(Date.now() + 12_000);
    this.#timeline = timeline;
    const events = DemoEvents.ofPlot(timeline, url !== undefined);
    const expected = Math.round((plot.historyMs / 1000) * plot.ratePerSecond);
    const bar = createProgress(this.#io, { label: 'sending history', total: expected });
    const history = await sendEvents(
      events.until(timeline.liveMs),
      send,
      { speed: Number.POSITIVE_INFINITY, eventMs: undefined },
      signal,
      (count) => bar.update(count),
    );
    bar.finish();
    await this.#untilStored(history);
    this.#print(
      `sent and stored ${history.toLocaleString('en-US')} events: ${plot.historyMs / minuteMs} minutes of history`,
    );
    const scenes = [
      {
        untilMs: timeline.faultFromMs,
        text: `live traffic now, at ${plot.speed} times real speed`,
      },
      {
        untilMs: timeline.faultToMs,
        text: injectionText(timeline),
      },
    ];
    let total = history;
    let fromMs = timeline.liveMs;
    for (const { untilMs, text } of scenes) {
      this.#print(text);
      const pace = { speed: plot.speed, eventMs: fromMs };
      total += await sendEvents(events.until(untilMs), send, pace, signal);
      fromMs = untilMs;
    }
    let recovery = events;
    if (url !== undefined) {
      const { sent, reachedMs } = await this.#stay(events, send, url);
      total += sent;
      fromMs = reachedMs;
      recovery = DemoEvents.withoutFault('demo/recovery', fromMs);
    }
    this.#print('regression removed');
    const range = { fromMs, toMs: fromMs + plot.recoveryMs };
    const until = AbortSignal.any([signal, this.#allResolved()]);
    const { sent, reachedMs } = await sendLive(recovery, send, range, until);
    total += sent;
    this.#timeline = { ...timeline, faultToMs: fromMs, endMs: reachedMs };
    await this.#untilStored(total);
    return await this.#evaluate({ history, total }, url !== undefined);
  }

  /** Sends traffic with the regression until Enter is pressed. */
  async #stay(events: DemoEvents, send: DemoConnection['send'], url: string) {
    const { signal, stdin } = this.#io;
    const entered = new AbortController();
    const fromMs = this.#timeline?.faultToMs ?? Date.now();
    const until = AbortSignal.any([signal, entered.signal]);
    const sending = sendLive(events, send, { fromMs }, until);
    const invite = async () => {
      await this.#untilFound();
      if (!this.#json && !signal.aborted) this.#io.out(this.#exploreText(url));
      this.#print('the regression stays: press Enter to remove it');
      await untilEnter(stdin, signal);
    };
    await Promise.race([sending, invite()]);
    entered.abort();
    return await sending;
  }

  /** Resolves at the first anomaly. */
  async #untilFound(): Promise<void> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    while (this.#latest.size === 0 && !this.#io.signal.aborted && Date.now() < deadlineMs) {
      await sleep(200);
    }
  }

  /** Aborts when there are anomalies of the regression and all of them have been resolved. */
  #allResolved(): AbortSignal {
    const resolved = new AbortController();
    const timer = setInterval(() => {
      const anomalies = [...this.#latest.values()];
      const states = anomalies.filter(isOfRegression(anomalies)).map(({ state }) => state);
      if (states.length === 0 || states.some((state) => state !== 'resolved')) return;
      clearInterval(timer);
      resolved.abort();
    }, 200);
    timer.unref();
    return resolved.signal;
  }

  /**
   * Compares the anomalies with the injected regression.
   *
   * @param isShared whether others may have sent events as well, while the regression stayed
   */
  async #evaluate(sent: Outcome['sent'], isShared: boolean): Promise<Outcome> {
    const anomalies = [...this.#latest.values()];
    const verification = await withClickHouse(this.#config, this.#io, 'verify', (client) =>
      verify(client, { retention: this.#config.clickhouse.retention, ...systemClock }),
    );
    const { consumed } = verification.totals;
    // The ledger shows that nothing counts twice: what is more than was sent here, others have sent.
    const otherEvents = isShared ? Math.max(0, consumed - sent.total) : 0;
    const problems = demoVerdict(anomalies, otherEvents);
    if (!verification.ok) problems.push('verification failed: see `tailmark verify`');
    if (consumed !== sent.total + otherEvents) {
      problems.push(`${sent.total} events were sent, ${consumed} consumed`);
    }
    return {
      ...{ ok: problems.length === 0, problems, sent },
      others: othersFound(anomalies, otherEvents),
    };
  }

  async #untilStored(events: number): Promise<void> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    await withClickHouse(this.#config, this.#io, 'read the ledger', async (client) => {
      while (!this.#io.signal.aborted && Date.now() < deadlineMs) {
        const query = 'SELECT sum(consumed) AS consumed FROM flushes';
        const rows = await rowsOf<{ consumed: string }>(client, query);
        if (Number(rows[0]?.consumed ?? 0) >= events) return;
        await sleep(200);
      }
    });
  }

  #onAnomaly(event: AnomalyEvent): void {
    if ((this.#latest.get(event.id)?.revision ?? 0) >= event.revision) return;
    // A busy machine may be behind for a while: that says nothing of the traffic.
    if (event.kind !== 'pipeline') this.#latest.set(event.id, event);
    if (event.state === 'updated' || this.#json) return;
    const { bold, green } = colorsOf(this.#io);
    if (event.state === 'opened') this.#io.out(`${anomalyText(event, this.#io)}\n`);
    else this.#io.out(`${green('resolved')}  ${bold(event.summary)}\n`);
  }

  async #report(outcome: Outcome, once: boolean): Promise<void> {
    const timeline = this.#timeline;
    if (timeline === undefined) return;
    const { liveMs, faultFromMs, faultToMs, endMs } = timeline;
    const read = (fromMs: number, toMs: number) =>
      withClickHouse(this.#config, this.#io, 'read tails', (client) =>
        readTails(
          client,
          {
            fromMs,
            toMs,
            model: plot.model,
            stage: '',
            version: '',
            region: plot.region,
            requestType: '',
            coldStart: 'false',
          },
          '10s',
        ),
      );
    const before = await read(liveMs - 300_000, faultFromMs);
    const during = await read(faultFromMs, faultToMs);
    const after = await read(faultToMs + 10_000, endMs);
    if (this.#json) {
      const anomalies = [...this.#latest.values()];
      this.#io.out(`${JSON.stringify({ ...outcome, anomalies, before, during, after })}\n`);
      return;
    }
    this.#io.out(
      `\n${plot.model} in ${plot.region}, warm requests, before, during and after the regression:\n\n`,
    );
    this.#io.out(comparison(before, during, after, this.#io.color));
    const { green, red, bold } = colorsOf(this.#io);
    for (const problem of outcome.problems) this.#io.out(`${red('wrong')}  ${problem}\n`);
    for (const text of outcome.others) {
      this.#io.out(`${bold('also')}   found in events that this demo did not send: ${text}\n`);
    }
    const found = `found, blamed on ${plot.stage}, resolved; every event counted exactly once`;
    this.#io.out(outcome.ok ? `\n${green('ok')}  ${bold(found)}\n` : '\n');
    if (once) this.#io.out(ONCE_TEXT);
  }

  #exploreText(url: string): string {
    const anomalyIds = [...this.#latest.keys()];
    return exploreText(this.#transport, { url, anomalyIds, logPath: this.#logPath });
  }

  /** Sends normal traffic in real time, until interrupted. */
  async #sendNormalTraffic({ send }: DemoConnection): Promise<void> {
    const { signal } = this.#io;
    this.#print('normal traffic continues in real time; Ctrl-C stops it');
    const startMs = Date.now();
    const events = DemoEvents.withoutFault('demo/after', startMs);
    await sendLive(events, send, { fromMs: startMs }, signal);
  }

  /** Prints a line of progress; none after an interruption, which skips what is left of the story. */
  #print(text: string): void {
    if (this.#io.signal.aborted) return;
    const { dim } = colorsOf(this.#io);
    this.#io.err(`${dim(new Date().toISOString().slice(11, 19))} ${text}\n`);
  }
}

/** Renders p50 and p99 of each stage in three ranges, the stages in the order of their slowdown. */
function comparison(
  before: readonly StageTails[],
  during: readonly StageTails[],
  after: readonly StageTails[],
  color: boolean,
): string {
  const { red, bold } = colorsOf({ color });
  const rowOf = (rows: readonly StageTails[], stage: string) =>
    rows.find((row) => row.stage === stage);
  const cells = (rows: readonly StageTails[], stage: string) => {
    const row = rowOf(rows, stage);
    return row === undefined ? ['–', '–'] : [formatMs(row.p50_ms), formatMs(row.p99_ms)];
  };
  const rows = before
    .map(({ stage, p99_ms }) => {
      return { stage, ratio: (rowOf(during, stage)?.p99_ms ?? Number.NaN) / p99_ms };
    })
    .sort((a, b) => b.ratio - a.ratio);
  return renderTable({
    color,
    columns: ['stage', ...right('p50', 'p99 before', 'p50', 'p99 during', '×', 'p50', 'p99 after')],
    rows: rows.map(({ stage, ratio }) => [
      { text: stage, style: bold },
      ...cells(before, stage),
      ...cells(during, stage),
      ratio >= 1.3 ? { text: ratio.toFixed(1), style: red } : ratio.toFixed(1),
      ...cells(after, stage),
    ]),
  });
}
