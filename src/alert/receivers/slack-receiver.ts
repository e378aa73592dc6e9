import type { ReceiverConfig } from '../../config/alert.ts';
import type { HttpSender } from '../http/http-sender.ts';
import { anomalyMessage, isOver, type Message } from '../message/anomaly-message.ts';
import type { LinkSettings } from '../message/links.ts';
import type { Answer, Form, Notice, Preview, Receiver } from '../receiver.ts';
import { type Address, addressOf } from './address.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import { slackMessage, slackReply } from './payloads/slack-message.ts';
import {
  hookAnswer,
  isGone,
  type SlackAnswer,
  type SlackPlace,
  slackAnswer,
  slackPlace,
} from './slack-answer.ts';

type SlackConfig = Extract<ReceiverConfig, { type: 'slack' }>;

export interface SlackOptions {
  readonly config: SlackConfig;
  readonly links: LinkSettings;
  readonly clock: ReceiverClock;
  readonly http: HttpSender;
}

const webApi = 'https://slack.com/api';
const contentType = 'application/json; charset=utf-8';
/** Attempts whose accepted part is remembered. */
const maxPartial = 1000;

/** Opens a Slack receiver: with a bot token one message an incident, without one an incoming webhook. */
export function slackReceiver(options: SlackOptions): Receiver {
  return options.config.token === undefined
    ? new SlackWebhookReceiver(options)
    : new SlackBotReceiver(options);
}

/**
 * Posts one message an incident and edits it at each change. A rise and the end are also replies in its
 * thread, because an edit notifies nobody; a rise is shown in the channel too. A message that is gone is
 * posted again.
 */
class SlackBotReceiver implements Receiver {
  readonly name: string;
  readonly feed = 'state';
  readonly wantsUpdates = true;
  readonly showsRepeats = true;
  readonly wantsPast = true;
  readonly exampleMemory = JSON.stringify({ channel: 'C0EXAMPLE', ts: '1700000000.000100' });
  readonly #options: SlackOptions;
  readonly #api: string;
  readonly #shownApi: string;
  readonly #channel: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secrets: readonly string[];
  /** Notices whose edit was accepted while their reply was not, oldest first. */
  readonly #edited = new Set<string>();

  constructor(options: SlackOptions) {
    const { name, token = '', url, channel = '' } = options.config;
    this.name = name;
    this.#options = options;
    this.#channel = channel;
    const address = addressOf(url ?? webApi);
    this.#api = address.url.replace(/\/+$/, '');
    this.#shownApi = url === undefined ? webApi : address.host;
    this.#headers = { 'content-type': contentType, authorization: `Bearer ${token}` };
    this.#secrets = url === undefined ? [token] : [token, ...address.secrets];
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    const { config, clock } = this.#options;
    return attempt((signal) => this.#deliver(notice, form, signal), {
      timeoutMs: config.timeout,
      clock,
      secrets: this.#secrets,
    });
  }

  preview(notice: Notice, form: Form): readonly Preview[] {
    const place = placeIn(notice);
    const message = this.#message(notice, form);
    const shown = (method: string, body: object) => ({
      target: `POST ${this.#shownApi}/${method}`,
      body: JSON.stringify(body),
    });
    if (place === undefined) return [shown('chat.postMessage', this.#newMessage(message, form))];
    return [
      shown('chat.update', { ...place, ...slackMessage(message, form) }),
      ...(isNews(notice) ? [shown('chat.postMessage', replyIn(place, message, notice))] : []),
    ];
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }

  async #deliver(notice: Notice, form: Form, signal: AbortSignal): Promise<Answer> {
    const place = placeIn(notice);
    const message = this.#message(notice, form);
    if (place === undefined) return this.#postNew(message, form);
    const attempted = `${notice.event.id}/${notice.event.revision}/${notice.change}/${form}`;
    if (!this.#edited.has(attempted)) {
      const edit = await this.#post('chat.update', { ...place, ...slackMessage(message, form) });
      if (isGone(edit.error)) return this.#postNew(message, form);
      if (edit.answer.outcome !== 'accepted') return edit.answer;
      this.#remember(attempted);
    }
    // The time is over: the next attempt replies.
    if (signal.aborted) return { outcome: 'failed', answer: 'no time left for the reply' };
    if (isNews(notice)) {
      const reply = await this.#post('chat.postMessage', replyIn(place, message, notice));
      if (isGone(reply.error)) return this.#postNew(message, form);
      if (reply.answer.outcome !== 'accepted') return reply.answer;
    }
    this.#edited.delete(attempted);
    return { outcome: 'accepted', answer: 'ok', memory: JSON.stringify(place) };
  }

  async #postNew(message: Message, form: Form): Promise<Answer> {
    const { answer, place } = await this.#post('chat.postMessage', this.#newMessage(message, form));
    return place === undefined ? answer : { ...answer, memory: JSON.stringify(place) };
  }

  #newMessage(message: Message, form: Form) {
    return { channel: this.#channel, ...slackMessage(message, form) };
  }

  async #post(method: string, body: object): Promise<SlackAnswer> {
    const url = `${this.#api}/${method}`;
    const request = { url, headers: this.#headers, body: JSON.stringify(body) };
    return slackAnswer(await this.#options.http.post(request));
  }

  #message(notice: Notice, form: Form): Message {
    return anomalyMessage(notice, form, this.#options.links);
  }

  #remember(attempted: string): void {
    this.#edited.add(attempted);
    const [oldest] = this.#edited;
    if (this.#edited.size > maxPartial && oldest !== undefined) this.#edited.delete(oldest);
  }
}

/** Posts a message for the opening, each rise and the end: an incoming webhook can edit nothing. */
class SlackWebhookReceiver implements Receiver {
  readonly name: string;
  readonly feed = 'state';
  readonly wantsUpdates = false;
  readonly showsRepeats = true;
  readonly wantsPast = true;
  readonly #options: SlackOptions;
  readonly #address: Address;

  constructor(options: SlackOptions) {
    this.name = options.config.name;
    this.#options = options;
    this.#address = addressOf(options.config.url ?? '');
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    const { config, clock, http } = this.#options;
    const { url, authorization, secrets } = this.#address;
    const headers = {
      'content-type': contentType,
      ...(authorization !== undefined && { authorization }),
    };
    const post = async () =>
      hookAnswer(await http.post({ url, headers, body: this.#body(notice, form) }));
    return attempt(post, { timeoutMs: config.timeout, clock, secrets });
  }

  preview(notice: Notice, form: Form): readonly Preview[] {
    return [{ target: `POST ${this.#address.host}`, body: this.#body(notice, form) }];
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }

  #body(notice: Notice, form: Form): string {
    return JSON.stringify(slackMessage(anomalyMessage(notice, form, this.#options.links), form));
  }
}

/** True for what an edit alone would not be noticed of. */
function isNews(notice: Notice): boolean {
  return notice.change === 'risen' || isOver(notice);
}

function replyIn({ channel, ts }: SlackPlace, message: Message, { change }: Notice) {
  const body = { channel, thread_ts: ts, ...slackReply(message) };
  return change === 'risen' ? { ...body, reply_broadcast: true } : body;
}

/** Place of an incident's message, as the last delivery remembered it. */
function placeIn({ memory }: Notice): SlackPlace | undefined {
  if (memory === '') return undefined;
  try {
    return slackPlace.safeParse(JSON.parse(memory)).data;
  } catch {
    return undefined;
  }
}
