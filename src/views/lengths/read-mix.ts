import { mixFacets } from '../../base/facets.ts';
import type { MixPart } from '../../compare/like-with-like.ts';
import type { SizePart } from '../../compare/size-weights.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { repeatableSettings } from '../../sink/client/query-settings.ts';
import { type FacetValue, readFacets } from '../../sink/read-facets.ts';
import { rowBinaryOf } from '../../sink/row-binary/row-binary-of.ts';
import { RowBinaryReader } from '../../sink/row-binary/row-binary-reader.ts';
import { decodeState } from '../../sketch/clickhouse-state.ts';
import type { Filters } from '../question.ts';

/** Requests of a model over whole windows of a table; '' matches any value. */
export interface MixQuery {
  readonly table: string;
  readonly model: string;
  readonly version: string;
  readonly region: string;
  readonly requestType: string;
  readonly coldStart: string;
  /** Pairs that the text of the own dimensions has; none matches any. */
  readonly attributePairs: string[];
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** Parts of a mix that are read; beyond them are those with the fewest requests. */
const mostParts = 500;

/** Reads requests by type and region. Cost: a digest of the total a window and series. */
export async function readMix(client: ClickHouseClient, query: MixQuery): Promise<MixPart[]> {
  const parameters = { ...query, limit: mostParts };
  const bytes = await rowBinaryOf(client, 'comparison_mix', parameters, repeatableSettings);
  const reader = new RowBinaryReader(bytes);
  const parts: MixPart[] = [];
  while (!reader.atEnd) {
    const requestType = reader.string();
    const region = reader.string();
    const requests = reader.uint64();
    const { digest, next } = decodeState(reader.bytes, reader.at);
    reader.at = next;
    parts.push({ requestType, region, requests, total: digest });
  }
  return parts;
}

/** Reads requests by their sizes, and by those of their answers: stored without region, type and start. */
export async function readSizes(
  client: ClickHouseClient,
  { model, version, fromSeconds, toSeconds }: MixQuery,
): Promise<FacetValue[]> {
  return readFacets(client, {
    ...{ model, version, fromSeconds, toSeconds, facets: mixFacets, levels: [] },
  });
}

/** Share by which requests with a size may exceed those asked for: less moves no quantile by much. */
const mostOthers = 0.03;

/**
 * The sizes that say something of the requests asked for. They are stored of a whole model or a version: of a
 * region, a type or an own dimension they count where it has nearly all requests.
 *
 * @param requests those asked for.
 */
export function sizesOfAsked<Size extends SizePart>(
  { region, requestType, attributePairs = [] }: Omit<Filters, 'model' | 'version' | 'start'>,
  sizes: readonly Size[],
  requests: number,
): Size[] {
  if (region === '' && requestType === '' && attributePairs.length === 0) return [...sizes];
  const sized = new Map<string, number>();
  for (const { facet, requests: n } of sizes) sized.set(facet, (sized.get(facet) ?? 0) + n);
  return sizes.filter(({ facet }) => (sized.get(facet) ?? 0) <= requests * (1 + mostOthers));
}
