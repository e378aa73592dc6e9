import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import { plot } from './demo-traffic.ts';

/**
 * Compares the last event of each anomaly with the injected regression.
 *
 * @returns the differences, a sentence each; empty when the regression alone was found, with the right stage,
 * and resolved
 */
export function demoVerdict(
  anomalies: readonly Pick<AnomalyEvent, 'id' | 'model' | 'region' | 'stage' | 'state'>[],
): string[] {
  if (anomalies.length === 0) return ['the regression was not found'];
  return anomalies.flatMap(({ id, model, region, stage, state }) => {
    const problems: string[] = [];
    if (model !== plot.model || region !== plot.region) {
      problems.push(`${id} is a false positive: ${model} in ${region} had no fault`);
    } else if (stage !== plot.stage) {
      problems.push(`${id} blames ${stage}, not ${plot.stage}`);
    }
    if (state !== 'resolved') problems.push(`${id} was not resolved`);
    return problems;
  });
}
