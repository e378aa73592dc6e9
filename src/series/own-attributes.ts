import {
  attributeKey,
  type DimensionName,
  isAttributeName,
  overflowValue,
} from '../base/dimensions.ts';
import type { FacetName } from '../base/facets.ts';
import { attributesText } from './attributes.ts';

/** Configured dimensions and facets of a pipeline. */
export interface ConfiguredNames {
  readonly dimensions?: readonly DimensionName[] | undefined;
  readonly facets?: readonly FacetName[] | undefined;
}

/** Names of an event's `attributes` that are read. */
export interface AttributeNames {
  readonly dimensions: readonly string[];
  /** In the order of `windows.facets`. */
  readonly facets: readonly string[];
}

/** What is read of an event's `attributes`. */
export interface OwnAttributes {
  /** Own dimensions as one text (`attributesText`). */
  readonly text: string;
  /** Value of each own facet, '' where it is absent. */
  readonly facets: readonly string[];
  /** True if a value was too long: it counts as `__other__`. */
  readonly hasLong: boolean;
}

/** A rule that `attributes` break; `name` of the value that does, '' for the whole. */
export interface AttributeFault {
  readonly name: string;
  readonly rule: string;
}

/** Names that are read of events; undefined where none is configured. */
export function attributeNames({
  dimensions = [],
  facets = [],
}: ConfiguredNames): AttributeNames | undefined {
  const keys = (names: readonly string[]) => names.filter(isAttributeName).map(attributeKey);
  const read = { dimensions: keys(dimensions), facets: keys(facets) };
  return read.dimensions.length + read.facets.length === 0 ? undefined : read;
}

/** Names that are read of events, each once. */
export function readNames(configured: ConfiguredNames): string[] {
  const { dimensions, facets } = attributeNames(configured) ?? { dimensions: [], facets: [] };
  return [...new Set([...dimensions, ...facets])];
}

/**
 * Reads the configured names of an event's `attributes`, and looks at no other. A value is a text, or a number or
 * boolean, which counts as its text.
 */
export function ownAttributes(
  given: unknown,
  { dimensions, facets }: AttributeNames,
  maxBytes: number,
): OwnAttributes | AttributeFault {
  if (given === null || given === undefined) {
    return { text: '', facets: facets.map(() => ''), hasLong: false };
  }
  if (typeof given !== 'object' || Array.isArray(given)) {
    return { name: '', rule: 'must be an object of names and values' };
  }
  const read = new Map<string, string>();
  let hasLong = false;
  for (const name of new Set([...dimensions, ...facets])) {
    const value = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : null;
    const text = value === null || value === undefined ? '' : textOf(value);
    if (text === undefined) return { name, rule: 'must be a string, a number or a boolean' };
    if (text === overflowValue) {
      return { name, rule: 'must be another text, as this one is reserved' };
    }
    const isLong = text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
    hasLong ||= isLong;
    read.set(name, isLong ? overflowValue : text);
  }
  const readOf = (name: string) => read.get(name) ?? '';
  return {
    text: attributesText(dimensions.map((name) => [name, readOf(name)])),
    facets: facets.map(readOf),
    hasLong,
  };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
