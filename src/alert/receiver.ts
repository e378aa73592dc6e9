import type { AnomalyEvent, Severity } from '../contract/anomaly-event.ts';

/** The content of one delivery to a receiver. */
export interface Notice {
  /** The newest state; of a receiver of all revisions, the revision that is due. */
  readonly event: AnomalyEvent;
  /**
   * The change since the last accepted delivery. `risen`: the severity. `past`: the anomaly was over before
   * anything of it could be delivered.
   */
  readonly change: 'opened' | 'risen' | 'updated' | 'resolved' | 'past';
  /** Severities of the episode so far that the receiver matches, in order; the last is the current one. */
  readonly severities: readonly Severity[];
  /** Text that the last accepted delivery of this anomaly asked to remember; '' for nothing. */
  readonly memory: string;
  /** The severity of the alert that the message is of, where a receiver has one for each. @default {the current} */
  readonly as?: Severity;
  /** True for `tailmark alert test`: each message says so. */
  readonly isTest: boolean;
  /** Present where it is only for those whom the last accepted delivery did not reach, by `memory`. */
  readonly isRest?: true;
}

/** `minimal` after a receiver refused the content of `full`: summary, times and link only. */
export type Form = 'full' | 'minimal';

/** A receiver's response to one attempt. */
export interface Answer {
  /**
   * - `accepted`.
   * - `failed`: no connection, time-out, overload or an error of the server. Retried soon.
   * - `rejected`: a mistake of the configuration or the receiver, such as a wrong key. Retried every 5 minutes.
   * - `unacceptable`: the content. Retried once, in the minimal form.
   */
  readonly outcome: 'accepted' | 'failed' | 'rejected' | 'unacceptable';
  /** The receiver's text for people: at most 500 characters, without secrets. */
  readonly answer: string;
  /** Least wait before the next attempt, as the receiver asked for it. */
  readonly retryAfterMs?: number;
  /** True for a failure after which the receiver may have it: it was sent and not answered. */
  readonly mayHaveArrived?: true;
  /** Text to remember of this anomaly for the next delivery, at most 2,000 characters. */
  readonly memory?: string;
  /** Of an accepted delivery: who never gets it, and why. */
  readonly refused?: string;
}

/** An HTTP or SMTP request as it would be sent, for `tailmark alert preview`. Secrets are left out. */
export interface Preview {
  /** `POST https://events.pagerduty.com/v2/enqueue`, `MAIL to a@b.c`. */
  readonly target: string;
  /** The exact body. */
  readonly body: string;
}

/** A destination of anomalies: a topic, a webhook, a pager, a chat. */
export interface Receiver {
  /** Unique and stable. In logs, metrics and the table `deliveries`; holds no secret. */
  readonly name: string;
  /** `revisions`: every event in order. `state`: the newest state only. */
  readonly feed: 'revisions' | 'state';
  /** For `state`: delivers changes that are neither opening, rise nor end. */
  readonly wantsUpdates: boolean;
  /** For `state`: delivers what was over before it could be delivered. */
  readonly wantsPast: boolean;
  /**
   * True where people see a repeated delivery as a second message. After one that was not answered, the wait grows
   * from 16 s to 5 minutes. Others know a repeated one by its key.
   */
  readonly showsRepeats: boolean;
  /** For `state`: repeats the current state at an interval while it is open, and for a time after its end. */
  readonly renewal?: { readonly everyMs: number; readonly afterEndMs: number };
  /** Example of a text that an accepted delivery asks to remember, for previews; it names no real message. */
  readonly exampleMemory?: string;
  /**
   * The change that some people still have to get, by the memory of an accepted delivery: their server said
   * "later". Undefined where it reached all.
   */
  rest?(memory: string): Notice['change'] | undefined;
  /** Shows at an interval that alerts arrive at all. */
  readonly heartbeat?: { readonly everyMs: number; send(): Promise<Answer> };
  /** Makes one attempt. Resolves for every outcome and never takes longer than the receiver's timeout. */
  send(notice: Notice, form: Form): Promise<Answer>;
  /** Renders what `send` would send. */
  preview(notice: Notice, form: Form): readonly Preview[];
  /** Releases connections. */
  close(): Promise<void>;
}
