import type { ReceiverConfig } from '../../config/alert.ts';
import { type Severity, severities } from '../../contract/anomaly-event.ts';
import { answerOfHttp } from '../http/answer-of-http.ts';
import type { HttpSender } from '../http/http-sender.ts';
import { anomalyMessage, dashboardUrlOf, isOver } from '../message/anomaly-message.ts';
import type { LinkSettings } from '../message/links.ts';
import type { Answer, Form, Notice, Preview, Receiver } from '../receiver.ts';
import { addressOf, basicLogin } from './address.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import {
  alertAnnotations,
  alertLabels,
  alertTimes,
  type LabelSet,
  type PostableAlert,
  type ServerTime,
  watchdogAlert,
} from './payloads/alertmanager-alert.ts';

type AlertmanagerConfig = Extract<ReceiverConfig, { type: 'alertmanager' }>;

export interface AlertmanagerOptions {
  readonly config: AlertmanagerConfig;
  readonly links: LinkSettings;
  readonly clock: ReceiverClock;
  readonly http: HttpSender;
}

/** Difference of the clocks from which the server's counts: `Date` has whole seconds and travels. */
const maxClockDifferenceMs = 30_000;
const path = 'api/v2/alerts';

/**
 * Opens a receiver for each Alertmanager of a cluster: each is to get every alert.
 *
 * @param openHttp makes the sender of one of them, which closes it.
 */
export function alertmanagerReceivers(
  options: Omit<AlertmanagerOptions, 'http'>,
  openHttp: () => HttpSender,
): AlertmanagerReceiver[] {
  const { name, urls } = options.config;
  const distinct = [...new Set(urls)];
  return distinct.map((url) => {
    const isOnly = distinct.length === 1;
    const fullName = isOnly ? name : `${name} ${placeOf(url, distinct)}`;
    return new AlertmanagerReceiver(fullName, url, { ...options, http: openHttp() });
  });
}

/** `host:port`, with the path where two of them share a host and a port. */
function placeOf(url: string, all: readonly string[]): string {
  const place = hostAndPort(url);
  const isShared = all.filter((other) => hostAndPort(other) === place).length > 1;
  return isShared ? `${place}${new URL(url).pathname}` : place;
}

function hostAndPort(text: string): string {
  const { hostname, port, protocol } = new URL(text);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/**
 * Sends alerts to one Alertmanager, one a request: of a batch with a bad alert the good ones are stored,
 * and the batch is refused. An open alert ends after four minutes, so it is renewed every minute. The end is
 * repeated for a quarter of an hour, as Prometheus does.
 *
 * Severity is a label, and a changed label is another alert. So each severity of the episode is an alert,
 * all of them fire until the end, and an inhibit rule silences the lower ones. Each says its own severity, and a
 * lower one that it has risen.
 */
export class AlertmanagerReceiver implements Receiver {
  readonly name: string;
  readonly feed = 'state';
  readonly wantsUpdates = false;
  readonly showsRepeats = false;
  readonly wantsPast = false;
  readonly renewal = { everyMs: 60_000, afterEndMs: 15 * 60_000 };
  readonly heartbeat = { everyMs: 60_000, send: () => this.sendWatchdog() };
  readonly #options: AlertmanagerOptions;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secrets: readonly string[];
  readonly #startedMs: number;
  #offsetMs = 0;

  constructor(name: string, url: string, options: AlertmanagerOptions) {
    this.name = name;
    this.#options = options;
    const { username, password, token } = options.config;
    const address = addressOf(url);
    this.#url = `${address.url.replace(/\/+$/, '')}/${path}`;
    const login = username === undefined ? undefined : basicLogin(username, password ?? '');
    const authorization =
      token === undefined ? (login ?? address.authorization) : `Bearer ${token}`;
    this.#headers = {
      'content-type': 'application/json',
      ...(authorization !== undefined && { authorization }),
    };
    this.#secrets = [password, token, authorization].filter((text) => text !== undefined);
    this.#startedMs = options.clock.nowMs();
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    return this.#attempt(async () => {
      let answer: Answer = { outcome: 'accepted', answer: '' };
      for (const [i, severity] of severitiesToSend(notice).entries()) {
        answer = await this.#post((server) => this.#alert(notice, form, severity, server));
        // The alerts before are there.
        if (answer.outcome !== 'accepted')
          return i === 0 ? answer : { ...answer, mayHaveArrived: true };
      }
      return answer;
    });
  }

  /**
   * Sends `TailmarkWatchdog`, which always fires; to be repeated every minute.
   *
   * @param labels tell several tailmarks apart.
   */
  sendWatchdog(labels: LabelSet = {}): Promise<Answer> {
    const startedMs = this.#startedMs;
    return this.#attempt(() =>
      this.#post((server) => watchdogAlert({ labels, startedMs, server })),
    );
  }

  preview(notice: Notice, form: Form): readonly Preview[] {
    return severitiesToSend(notice).map((severity) => ({
      target: `POST ${this.#url}`,
      body: JSON.stringify([this.#alert(notice, form, severity, this.#server())]),
    }));
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }

  #attempt(run: () => Promise<Answer>): Promise<Answer> {
    const { config, clock } = this.#options;
    return attempt(run, { timeoutMs: config.timeout, clock, secrets: this.#secrets });
  }

  #alert(notice: Notice, form: Form, severity: Severity, server: ServerTime): PostableAlert {
    const { event } = notice;
    const { links } = this.#options;
    const message = anomalyMessage({ ...notice, as: severity }, form, links);
    const generatorURL = dashboardUrlOf(message);
    return {
      labels: alertLabels(event, severity),
      annotations: alertAnnotations(message, form),
      ...alertTimes(event, isOver(notice), server),
      ...(generatorURL !== undefined && { generatorURL }),
    };
  }

  /** Posts one alert; once more where the response shows that the times in it were wrong. */
  async #post(alert: (server: ServerTime) => PostableAlert): Promise<Answer> {
    const offsetMs = this.#offsetMs;
    const answer = await this.#postOnce(alert);
    const isCorrected = Math.abs(this.#offsetMs - offsetMs) > maxClockDifferenceMs;
    return isCorrected && answer.outcome !== 'failed' ? this.#postOnce(alert) : answer;
  }

  async #postOnce(alert: (server: ServerTime) => PostableAlert): Promise<Answer> {
    const body = JSON.stringify([alert(this.#server())]);
    const { http, clock } = this.#options;
    const result = await http.post({ url: this.#url, headers: this.#headers, body });
    if ('dateMs' in result && result.dateMs !== undefined) {
      const aheadMs = result.dateMs - clock.nowMs();
      this.#offsetMs = Math.abs(aheadMs) > maxClockDifferenceMs ? aheadMs : 0;
    }
    return answerOfHttp(result);
  }

  #server(): ServerTime {
    const offsetMs = this.#offsetMs;
    return { nowMs: this.#options.clock.nowMs() + offsetMs, offsetMs };
  }
}

/**
 * Severities of an episode in the order in which their alerts are sent. The highest is first, because it
 * silences the others; at the end it is last, so that no lower one fires alone.
 */
function severitiesToSend(notice: Notice): readonly Severity[] {
  const { event } = notice;
  const all = new Set(notice.severities.length === 0 ? [event.severity] : notice.severities);
  const ascending = severities.filter((severity) => all.has(severity));
  return isOver(notice) ? ascending : ascending.toReversed();
}
