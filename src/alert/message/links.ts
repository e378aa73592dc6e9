import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';

/** Where links of messages lead, as configured. */
export type LinkSettings = Pick<Config['alert'], 'dashboard_url' | 'trace_url'>;

export interface Link {
  readonly label: 'dashboard' | 'trace' | 'runbook';
  readonly url: string;
}

/** Longest address: what Slack's blocks accept is the least of all receivers. */
const maxUrlChars = 3000;

/** Links of an anomaly: its page of the dashboard, its slowest trace, the runbook. */
export function linksOf(event: AnomalyEvent, settings: LinkSettings): readonly Link[] {
  const [trace] = event.exemplars;
  const links: (Link | undefined)[] = [
    link('dashboard', dashboardLink(event, settings)),
    trace === undefined ? undefined : traceLink(trace, settings),
    link('runbook', event.runbook_url ?? undefined),
  ];
  return links.filter((each) => each !== undefined);
}

/** Page of an anomaly; undefined without a dashboard. */
export function dashboardLink(
  { id }: Pick<AnomalyEvent, 'id'>,
  { dashboard_url: url }: LinkSettings,
): string | undefined {
  if (url === undefined) return undefined;
  return `${url.replace(/\/+$/, '')}/anomalies/${encoded(id)}`;
}

/** Page of a trace; undefined where none is configured. */
export function traceLink(
  traceId: string,
  { trace_url: url }: Pick<LinkSettings, 'trace_url'>,
): Link | undefined {
  return link(
    'trace',
    url?.replaceAll('{trace_id}', () => encoded(traceId)),
  );
}

/** A link only where it is an http address that every receiver accepts, in its canonical spelling. */
function link(label: Link['label'], address: string | undefined): Link | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { href, protocol } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href.length > maxUrlChars ? undefined : { label, url: href };
}

/** Text within a path or a query, whatever is in it. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
