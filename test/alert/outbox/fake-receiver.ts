import type { Answer, Form, Notice, Receiver } from '../../../src/alert/receiver.ts';

type Shape = Pick<Receiver, 'feed' | 'wantsPast' | 'wantsUpdates' | 'showsRepeats' | 'renewal'>;

const shapes = {
  revisions: { feed: 'revisions', wantsPast: false, wantsUpdates: false, showsRepeats: false },
  pager: { feed: 'state', wantsPast: false, wantsUpdates: false, showsRepeats: false },
  chat: { feed: 'state', wantsPast: true, wantsUpdates: true, showsRepeats: true },
  renewed: {
    feed: 'state',
    wantsPast: false,
    wantsUpdates: false,
    showsRepeats: false,
    renewal: { everyMs: 60_000, afterEndMs: 15 * 60_000 },
  },
} as const satisfies Record<string, Shape>;

/** A receiver in memory that answers as the test says. */
export class FakeReceiver implements Receiver {
  readonly name: string;
  readonly feed: Receiver['feed'];
  readonly wantsPast: boolean;
  readonly wantsUpdates: boolean;
  readonly showsRepeats: boolean;
  readonly renewal?: { readonly everyMs: number; readonly afterEndMs: number };
  /** All attempts, as `id/revision change` and outcome. */
  readonly attempts: string[] = [];
  /** What was accepted, as `id/revision change`. */
  readonly accepted: string[] = [];
  /** Whether a delivery that is not answered has arrived. */
  arrives: () => boolean = () => false;
  answer: (notice: Notice, form: Form) => Answer | Promise<Answer> = () => ({
    outcome: 'accepted',
    answer: '200',
  });

  constructor(name: string, shape: keyof typeof shapes) {
    this.name = name;
    Object.assign(this, shapes[shape]);
    const { feed, wantsPast, wantsUpdates, showsRepeats } = shapes[shape];
    this.feed = feed;
    this.wantsPast = wantsPast;
    this.wantsUpdates = wantsUpdates;
    this.showsRepeats = showsRepeats;
  }

  async send(notice: Notice, form: Form): Promise<Answer> {
    const { event, change } = notice;
    const label = `${event.id}/${event.revision} ${change}${notice.isRest ? ' rest' : ''}`;
    const answer = await this.answer(notice, form);
    this.attempts.push(`${label} ${answer.outcome}${form === 'minimal' ? ' minimal' : ''}`);
    const hasArrived = answer.mayHaveArrived === true && this.arrives();
    if (answer.outcome === 'accepted' || hasArrived) this.accepted.push(label);
    return answer;
  }

  /** A memory of the form `rest: change` says that some people have not got it. */
  rest(memory: string): Notice['change'] | undefined {
    return /^rest: (opened|resolved)$/.exec(memory)?.[1] as Notice['change'] | undefined;
  }

  preview() {
    return [];
  }

  close() {
    return Promise.resolve();
  }
}
