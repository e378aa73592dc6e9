import { encodedSegment, incidentPath, nowPath, pageUrl } from '../../base/dashboard-paths.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';

/** Targets of links in messages, as configured. */
export type LinkSettings = Pick<Config['alert'], 'dashboard_url' | 'trace_url'>;

export interface Link {
  readonly label: 'dashboard' | 'trace' | 'runbook';
  readonly url: string;
}

/** Longest address: what Slack's blocks accept is the least of all receivers. */
const maxUrlChars = 3000;

/**
 * Links of an anomaly: its page of the dashboard, its slowest trace, the runbook.
 *
 * @param isTest an anomaly that is stored nowhere has no page: its link opens the dashboard.
 */
export function linksOf(
  { id, exemplars, runbook_url: runbook }: AnomalyEvent,
  settings: LinkSettings,
  { isTest }: { readonly isTest: boolean },
): readonly Link[] {
  const { dashboard_url: dashboard } = settings;
  const page = isTest ? nowPath : incidentPath(id);
  const [trace] = exemplars;
  const links: (Link | undefined)[] = [
    link('dashboard', dashboard === undefined ? undefined : pageUrl(dashboard, page)),
    trace === undefined ? undefined : traceLink(trace, settings),
    link('runbook', runbook ?? undefined),
  ];
  return links.filter((each) => each !== undefined);
}

/** Page of a trace; undefined where none is configured. */
export function traceLink(
  traceId: string,
  { trace_url: url }: Pick<LinkSettings, 'trace_url'>,
): Link | undefined {
  return link(
    'trace',
    url?.replaceAll('{trace_id}', () => encodedSegment(traceId)),
  );
}

/** A link only where it is an http address that every receiver accepts, in its canonical spelling. */
function link(label: Link['label'], address: string | undefined): Link | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { href, protocol } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href.length > maxUrlChars ? undefined : { label, url: href };
}
