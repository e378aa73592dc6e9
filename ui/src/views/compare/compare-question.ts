import { questionPath, rangeParams } from '../../data/use-answer.ts';
import { isOfTimes, type Params, paramOf } from '../../state/url.ts';

/**
 * Address of a comparison of a model; undefined where nothing to compare is chosen.
 *
 * @param params what is compared, as the address of its page has it
 */
export function compareQuestion(model: string, params: Params): string | undefined {
  const isOfVersions = params['a.version'] !== undefined && params['b.version'] !== undefined;
  const ofTimes = isOfTimes({ params });
  if (!isOfVersions && !ofTimes) return undefined;
  return questionPath('compare', {
    ...rangeParams(),
    model,
    version: ofTimes ? params.version : undefined,
    region: params.region,
    request_type: params.request_type,
    attributes: params.attributes,
    start: paramOf(params, 'start'),
    'a.version': params['a.version'],
    'b.version': params['b.version'],
    'a.from': params['a.from'],
    'a.to': params['a.to'],
    'b.from': params['b.from'],
    'b.to': params['b.to'],
    stages: params.stages,
    incident: ofTimes ? params.incident : undefined,
  });
}

/** Which versions of a model, or of all, had requests in the range of the page. */
export function versionsQuestion(model?: string): string {
  return questionPath('versions', { ...rangeParams(), model });
}
