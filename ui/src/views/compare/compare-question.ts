import { questionPath, rangeParams } from '../../data/use-answer.ts';
import { place } from '../../state/place.ts';
import { paramOf } from '../../state/url.ts';

/** Address of the comparison that the page is about; undefined where nothing to compare is chosen yet. */
export function compareQuestion(model: string): string | undefined {
  const { params } = place.value;
  const isOfVersions = params['a.version'] !== undefined && params['b.version'] !== undefined;
  const isOfTimes = params['a.from'] !== undefined && params['b.from'] !== undefined;
  if (!isOfVersions && !isOfTimes) return undefined;
  return questionPath('compare', {
    ...rangeParams(),
    model,
    version: params.version,
    region: params.region,
    request_type: params.request_type,
    start: paramOf(params, 'start'),
    'a.version': params['a.version'],
    'b.version': params['b.version'],
    'a.from': params['a.from'],
    'a.to': params['a.to'],
    'b.from': params['b.from'],
    'b.to': params['b.to'],
  });
}
