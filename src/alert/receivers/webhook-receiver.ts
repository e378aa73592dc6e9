import type { ReceiverConfig } from '../../config/alert.ts';
import { cloudEvent, cloudEventContentType } from '../cloud-event.ts';
import { answerOfHttp } from '../http/answer-of-http.ts';
import type { HttpSender } from '../http/http-sender.ts';
import type { LinkSettings } from '../message/links.ts';
import type { Answer, Form, Notice, Preview, Receiver } from '../receiver.ts';
import { webhookSignature } from '../webhook-signature.ts';
import { type Address, addressOf } from './address.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import { alertmanagerWebhook } from './payloads/alertmanager-webhook.ts';
import { deliveredEvent } from './payloads/delivered-event.ts';

type WebhookConfig = Extract<ReceiverConfig, { type: 'webhook' }>;

export interface WebhookReceiverOptions {
  readonly config: WebhookConfig;
  readonly links: LinkSettings;
  readonly clock: ReceiverClock;
  readonly http: HttpSender;
}

/** A request before it is signed. */
interface Unsigned {
  /** The same in every attempt: receivers recognize repeated deliveries by it. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Makes the request of a notice in one format. */
type Render = (notice: Notice, form: Form, options: WebhookReceiverOptions) => Unsigned;

const formats: Readonly<
  Record<WebhookConfig['format'], { readonly feed: Receiver['feed']; readonly render: Render }>
> = {
  cloudevents: { feed: 'revisions', render: cloudEventRequest },
  alertmanager: { feed: 'state', render: alertmanagerRequest },
};

/**
 * Posts anomalies, signed after Standard Webhooks if there is a secret. `cloudevents` is every event in
 * order, in CloudEvents' binary mode. `alertmanager` is Alertmanager's own webhook body, which many
 * services read, at the opening, a rise and the end.
 */
export class WebhookReceiver implements Receiver {
  readonly name: string;
  readonly feed: Receiver['feed'];
  readonly wantsUpdates = false;
  readonly showsRepeats = false;
  readonly wantsPast = false;
  readonly #options: WebhookReceiverOptions;
  readonly #address: Address;
  readonly #render: Render;

  constructor(options: WebhookReceiverOptions) {
    const { name, url = '', format } = options.config;
    this.name = name;
    this.#options = options;
    this.#address = addressOf(url);
    this.feed = formats[format].feed;
    this.#render = formats[format].render;
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    const { config, clock, http } = this.#options;
    const { token, secret, timeout } = config;
    const post = async () => {
      const request = this.#render(notice, form, this.#options);
      const headers = { ...request.headers, ...this.#login(), ...this.#signature(request) };
      return answerOfHttp(await http.post({ url: this.#address.url, headers, body: request.body }));
    };
    const secrets = [token, secret, ...this.#address.secrets].filter((text) => text !== undefined);
    return attempt(post, { timeoutMs: timeout, clock, secrets });
  }

  preview(notice: Notice, form: Form): readonly Preview[] {
    const { body } = this.#render(notice, form, this.#options);
    return [{ target: `POST ${this.#address.host}`, body }];
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }

  #login(): Record<string, string> {
    const { token } = this.#options.config;
    const { authorization } = this.#address;
    if (token !== undefined) return { authorization: `Bearer ${token}` };
    return authorization === undefined ? {} : { authorization };
  }

  #signature({ id, body }: Unsigned): Record<string, string> {
    const { secret } = this.#options.config;
    if (secret === undefined) return {};
    const timestampSeconds = Math.floor(this.#options.clock.nowMs() / 1000);
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': webhookSignature({ secret, id, timestampSeconds, body }),
    };
  }
}

function cloudEventRequest(notice: Notice, form: Form): Unsigned {
  const { attributes, body } = cloudEvent(deliveredEvent(notice, form));
  const headers: Record<string, string> = { 'content-type': cloudEventContentType };
  for (const [name, value] of Object.entries(attributes)) headers[`ce-${name}`] = value;
  return { id: attributes.id, headers, body };
}

function alertmanagerRequest(
  notice: Notice,
  form: Form,
  { links, config }: WebhookReceiverOptions,
): Unsigned {
  const { id, revision } = notice.event;
  return {
    id: `${id}-${revision}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(alertmanagerWebhook({ notice, form, links, receiver: config.name })),
  };
}
