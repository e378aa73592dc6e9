import type { ReceiverConfig } from '../../config/alert.ts';
import { answerOfHttp } from '../http/answer-of-http.ts';
import type { HttpSender } from '../http/http-sender.ts';
import { anomalyMessage, isOver } from '../message/anomaly-message.ts';
import type { LinkSettings } from '../message/links.ts';
import type { Answer, Form, Notice, Preview, Receiver } from '../receiver.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import {
  changeEvent,
  encodeEvent,
  type NewVersion,
  type PagerDutyEvent,
  resolveEvent,
  triggerEvent,
} from './payloads/pagerduty-event.ts';

export interface PagerDutyOptions {
  readonly config: Extract<ReceiverConfig, { type: 'pagerduty' }>;
  readonly links: LinkSettings;
  readonly clock: ReceiverClock;
  readonly http: HttpSender;
}

const accepted = 202;
const headers = { 'content-type': 'application/json' };

/**
 * Opens and closes PagerDuty alerts by the Events API v2. A rise of the severity opens a second alert, since
 * an event for an open one may page nobody. The end closes all of them. Acknowledging is left to people.
 */
export class PagerDutyReceiver implements Receiver {
  readonly name: string;
  readonly feed = 'state';
  readonly wantsUpdates = false;
  readonly showsRepeats = false;
  readonly wantsPast = false;
  readonly #options: PagerDutyOptions;
  readonly #routingKey: string;

  constructor(options: PagerDutyOptions) {
    this.name = options.config.name;
    this.#options = options;
    this.#routingKey = options.config.routing_key ?? '';
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    const { url } = this.#options.config;
    return this.#attempt(async () => {
      let answer: Answer = { outcome: 'accepted', answer: '' };
      for (const event of this.#events(notice, form)) {
        answer = await this.#post(url, encodeEvent(this.#routingKey, event));
        if (answer.outcome !== 'accepted') break;
      }
      return answer;
    });
  }

  /** Sends a change event; false for `change_events` in the configuration is the caller's to heed. */
  sendChange(version: NewVersion): Promise<Answer> {
    const url = new URL('change/enqueue', this.#options.config.url).href;
    const body = { routing_key: this.#routingKey, ...changeEvent(version) };
    return this.#attempt(() => this.#post(url, JSON.stringify(body)));
  }

  preview(notice: Notice, form: Form): readonly Preview[] {
    const target = `POST ${this.#options.config.url}`;
    return this.#events(notice, form).map((event) => ({ target, body: encodeEvent('***', event) }));
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }

  #events(notice: Notice, form: Form): readonly PagerDutyEvent[] {
    const keys = keysOf(notice);
    if (isOver(notice)) return keys.map(({ key }) => resolveEvent(key)).reverse();
    const newest = keys.at(-1);
    if (newest === undefined) return [];
    const message = anomalyMessage(notice, form, this.#options.links);
    return [triggerEvent(newest.key, newest.severity, message, form)];
  }

  async #post(url: string, body: string): Promise<Answer> {
    const result = await this.#options.http.post({ url, headers, body });
    const answer = answerOfHttp(result);
    if ('error' in result) return answer;
    if (answer.outcome === 'accepted' && result.status !== accepted && result.isCut) {
      return { outcome: 'failed', answer: 'the response broke off', mayHaveArrived: true };
    }
    if (answer.outcome === 'accepted' && result.status !== accepted) {
      const text = `${result.status}, which is no answer of the Events API v2: check url`;
      return { outcome: 'rejected', answer: text };
    }
    // A wrong key is a 400 like wrong content, but no other content would help.
    const isOfKey = answer.outcome === 'unacceptable' && /routing[ _]key/i.test(result.text);
    return isOfKey ? { ...answer, outcome: 'rejected' } : answer;
  }

  #attempt(run: () => Promise<Answer>): Promise<Answer> {
    const { config, clock } = this.#options;
    return attempt(run, { timeoutMs: config.timeout, clock, secrets: [this.#routingKey] });
  }
}

/** Keys of an episode's alerts: one for each severity, the first without a suffix. */
function keysOf({ event, severities }: Notice) {
  const distinct = [...new Set(severities.length === 0 ? [event.severity] : severities)];
  return distinct.map((severity, i) => ({
    severity,
    key: i === 0 ? event.dedup_key : `${event.dedup_key}/${severity}`,
  }));
}
