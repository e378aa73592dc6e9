import {
  type AttributeName,
  attributePrefix,
  type DimensionName,
  dimensions,
  isAttributeName,
} from '../base/dimensions.ts';
import { attributeOf, attributesOf } from './attributes.ts';
import type { Series } from './series-window.ts';

/** Key of a series without its version: equal for two versions of a model if all other dimensions are. */
export function unversionedKey(series: Series): string {
  return seriesKey({ ...series, version: '' });
}

/** Key of a series: equal for two series only if every dimension is. */
export function seriesKey(series: Series): string {
  const values = dimensions.map((dimension) => series[dimension]);
  const { attributes } = series;
  return JSON.stringify(attributes === undefined ? values : [...values, attributes]);
}

/** Series of a key. */
export function seriesOfKey(key: string): Series {
  const values = JSON.parse(key) as (string | boolean)[];
  const names = [...dimensions, 'attributes'].slice(0, values.length);
  return Object.fromEntries(names.map((name, i) => [name, values[i]])) as unknown as Series;
}

/** Copies the dimensions of a value that has more fields. */
export function seriesOf(source: Series): Series {
  const { service, model, version, request_type, region, host, tenant, cold_start } = source;
  const named = { service, model, version, request_type, region, host, tenant, cold_start };
  return { ...named, ...attributesField(source.attributes) };
}

/** The own dimensions as the field of a series, which has none where there are none. */
export function attributesField(text: string | undefined): Pick<Series, 'attributes'> {
  return text === undefined || text === '' ? {} : { attributes: text };
}

/** Value of a dimension as text, of an own one too. */
export function dimensionValue(series: Series, name: DimensionName): string {
  return isAttributeName(name) ? attributeOf(series.attributes, name) : String(series[name]);
}

/** Own dimensions that some series have a value of, by name. */
export function ownDimensionsOf(list: Iterable<Pick<Series, 'attributes'>>): AttributeName[] {
  const texts = new Set<string>();
  for (const { attributes } of list) if (attributes !== undefined) texts.add(attributes);
  const names = new Set([...texts].flatMap((text) => [...attributesOf(text).keys()]));
  return [...names].sort().map((name) => `${attributePrefix}${name}` as const);
}
