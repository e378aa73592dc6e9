import { AlertDispatcher } from '../alert/alert-dispatcher.ts';
import { openAlertTargets } from '../alert/open-alert-targets.ts';
import type { Publisher } from '../source/publisher.ts';
import { WatchLoop } from './watch-loop.ts';
import { Watcher, type WatcherOptions } from './watcher.ts';

export interface WatchLoopParts extends Omit<WatcherOptions, 'dispatcher' | 'nowMs'> {
  /** undefined: anomalies go to the table and to webhooks only. */
  readonly publisher: Publisher | undefined;
}

/** The detect role, with the configured alert targets, at work. */
export async function startWatchLoop(parts: WatchLoopParts): Promise<WatchLoop> {
  const { config, publisher, log, metrics } = parts;
  const dispatcher = new AlertDispatcher({
    targets: openAlertTargets(config.alert, publisher),
    onFailure: ({ target, error }, event) => {
      metrics.alertsFailed.inc({ target });
      const fields = { target, anomaly: event.id, err: error.message };
      log.error(fields, 'an event was not delivered');
    },
  });
  const loop = new WatchLoop(new Watcher({ ...parts, dispatcher, nowMs: () => Date.now() }), {
    intervalMs: config.detect.interval,
    judgeAtEnd: config.source.type !== 'kafka',
    log,
  });
  await loop.start();
  return loop;
}
