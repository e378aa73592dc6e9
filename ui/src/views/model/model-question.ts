import { attributePair } from '../../../../src/series/attributes.ts';
import { type Question, questionPath, rangeParams } from '../../data/use-answer.ts';
import { place } from '../../state/place.ts';
import { paramOf } from '../../state/url.ts';

/** Quantiles of the fan, and the one that its baseline is of. */
export const fanQuantiles = [0.5, 0.9, 0.95, 0.99, 0.999] as const;
export const mainQuantile = 0.99;
/** Quantiles of tails that stand side by side. */
export const sideQuantiles = [0.5, 0.9, mainQuantile] as const;
/** Percentiles of splits by values that are stored apart from the dimensions. */
export const facetQuantiles = [0.5, 0.9, 0.99] as const;

/** Dimensions that a model is split by. */
export const splitNames = ['version', 'region', 'request_type', 'start'] as const;
export type SplitName = (typeof splitNames)[number];

/** Which requests of a model the view is about. */
function filterParams() {
  const { params } = place.value;
  return {
    version: params.version,
    region: params.region,
    request_type: params.request_type,
    attributes: params.attributes,
    start: paramOf(params, 'start'),
  };
}

/** A question about the requests of a model over the range of the page. */
export const modelQuestion = (endpoint: string, model: string, more: Question = {}): string =>
  questionPath(endpoint, { ...rangeParams(), model, ...filterParams(), ...more });

/** Quantiles of each value of a dimension, whatever this dimension is filtered to. */
export function splitQuestion(model: string, by: SplitName): string {
  const stage = paramOf(place.value.params, 'stage');
  return modelQuestion('tails', model, { by, stage, q: '0.5,0.9,0.99', [by]: undefined });
}

/** Quantiles of each value of an own dimension, whatever this dimension is filtered to. */
export function ownSplitQuestion(model: string, name: string): string {
  const stage = paramOf(place.value.params, 'stage');
  const attributes = otherPairs(name).join() || undefined;
  return modelQuestion('tails', model, {
    ...{ by: `attributes.${name}`, stage, q: '0.5,0.9,0.99', attributes },
  });
}

/** The filter of own dimensions with this value of one of them, whatever it was. */
export function filterWith(name: string, value: string): string {
  return [...otherPairs(name), attributePair(name, value)].sort().join();
}

/** Pairs of the filter that are of other own dimensions. */
function otherPairs(name: string): string[] {
  const pairs = (place.value.params.attributes ?? '').split(',');
  return pairs.filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
}

/** Values stored apart from the dimensions: of a model and a version, whatever else is chosen. */
export function facetsQuestion(model: string): string {
  const { version } = place.value.params;
  const question = { ...rangeParams(), model, version, q: facetQuantiles.join() };
  return questionPath('facets', question);
}

/** The stage that the view is about; null for the whole request. */
export function chosenStage(): string | null {
  const stage = paramOf(place.value.params, 'stage') ?? totalStage;
  return stage === totalStage ? null : stage;
}

const totalStage = 'total';
