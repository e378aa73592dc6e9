import type { AnomalyEvent, Severity } from '../../detect/event/anomaly-event.ts';

/** What a receiver learns of an anomaly in one delivery. */
export interface Notice {
  /** The newest state; of a receiver of all revisions, the revision that is due. */
  readonly event: AnomalyEvent;
  /**
   * What has changed since the last accepted delivery. `risen`: the severity. `past`: the anomaly was over before
   * anything of it could be delivered.
   */
  readonly change: 'opened' | 'risen' | 'updated' | 'resolved' | 'past';
  /** Severities of the episode so far that the receiver matches, in order; the last is the current one. */
  readonly severities: readonly Severity[];
  /** What the last accepted delivery of this anomaly asked to remember; '' for nothing. */
  readonly memory: string;
  /** True for `tailmark alert test`: each message says so. */
  readonly isTest: boolean;
  /** Present where it is only for those whom the last accepted delivery did not reach, by `memory`. */
  readonly isRest?: true;
}

/** `minimal` after a receiver refused the content of `full`: summary, times and link only. */
export type Form = 'full' | 'minimal';

/** How a receiver responded to one attempt. */
export interface Answer {
  /**
   * - `accepted`.
   * - `failed`: no connection, time-out, overload or an error of the server. Retried soon.
   * - `rejected`: a mistake of the configuration or the receiver, such as a wrong key. Retried every 5 minutes.
   * - `unacceptable`: the content. Retried once, in the minimal form.
   */
  readonly outcome: 'accepted' | 'failed' | 'rejected' | 'unacceptable';
  /** What it said, for people: at most 500 characters, without secrets. */
  readonly answer: string;
  /** Least wait before the next attempt, as the receiver asked for it. */
  readonly retryAfterMs?: number;
  /** True for a failure after which the receiver may have it: it was sent and not answered. */
  readonly mayHaveArrived?: true;
  /** What to remember of this anomaly for the next delivery, at most 2,000 characters. */
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
  /** What an accepted delivery may have it remember, for previews; no real message is named by it. */
  readonly exampleMemory?: string;
  /**
   * What an accepted delivery has still to bring to some people, by its memory: their server said "later".
   * Undefined where it reached all.
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
