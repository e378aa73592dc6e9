import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import type { Form, Notice } from '../receiver.ts';
import { cleanEvent } from './clean-event.ts';
import { cleanSql } from './clean-text.ts';
import type { Fact } from './fact.ts';
import { factsOf, minimalFacts } from './facts.ts';
import { type Link, type LinkSettings, linksOf } from './links.ts';
import { titleOf } from './title.ts';

/** A query beyond this is left out: nobody reads it in a message. */
const maxSqlChars = 4000;

/** Content of a notice, which every receiver shows in its format. Texts are clean: one line each, bounded. */
export interface Message {
  /** At most 150 characters; the first 80 suffice. */
  readonly title: string;
  /** The detector's sentence. */
  readonly summary: string;
  /** The most important first. */
  readonly facts: readonly Fact[];
  readonly links: readonly Link[];
  /** A query that shows the anomaly; '' where it does not fit. Has several lines. */
  readonly sql: string;
  /** The severity while it is open; `ended` after. */
  readonly tone: AnomalyEvent['severity'] | 'ended';
  /** The event with clean names. */
  readonly event: AnomalyEvent;
  /** The same with the measurements that title and facts have: of an incident those of the most affected series. */
  readonly shown: AnomalyEvent;
}

/** True where the anomaly has ended. */
export function isOver({ change, event }: Notice): boolean {
  return change === 'resolved' || change === 'past' || event.state === 'resolved';
}

/** Address of the anomaly's page, from the links of its message; undefined without a dashboard. */
export function dashboardUrlOf({ links }: Pick<Message, 'links'>): string | undefined {
  return links.find(({ label }) => label === 'dashboard')?.url;
}

/** Makes the message of a notice: the same facts for every receiver. */
export function anomalyMessage(notice: Notice, form: Form, settings: LinkSettings): Message {
  const event = cleanEvent(notice.event);
  const shown = ofWorstSeries(event);
  const links = linksOf(event, settings, notice);
  const common = {
    title: titleOf(event, notice),
    summary: event.summary,
    tone: isOver(notice) ? ('ended' as const) : event.severity,
    event,
    shown,
  };
  if (form === 'minimal') {
    return { ...common, facts: minimalFacts(event, notice), links: links.slice(0, 1), sql: '' };
  }
  return { ...common, facts: factsOf(event, notice), links, sql: shownSql(shown) };
}

function shownSql(shown: AnomalyEvent): string {
  if (shown.sql.length > maxSqlChars) return '';
  const sql = cleanSql(shown.sql);
  return sql.length > maxSqlChars ? '' : sql;
}
