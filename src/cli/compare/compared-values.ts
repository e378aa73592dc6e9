import { InvalidArgumentError } from 'commander';
import { type AttributeName, attributeKey, isAttributeName } from '../../base/dimensions.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { type ChosenValues, chosenValues } from '../../compare/verdict/by-value.ts';
import type { Config } from '../../config/schema.ts';
import { attributePair } from '../../series/attributes.ts';
import { unknownText } from '../../series/unknown-name.ts';
import { unknownIn } from '../../sink/read-seen-values.ts';
import { readValues } from '../../views/comparison/read-values.ts';
import type { Io } from '../io.ts';
import { notKeptBy } from '../tails-by.ts';
import { withClickHouse } from '../with-clickhouse.ts';
import type { AskedComparison } from './asked-comparison.ts';
import type { ComparedRequests } from './read-compared.ts';

/** Dimensions by whose values `--by` compares: those that a comparison can choose requests by. */
const namedBy = ['region', 'request_type'] as const;
export type ComparedBy = (typeof namedBy)[number] | AttributeName;

/** Reads `--by`. */
export function comparedByName(text: string): ComparedBy {
  const named = namedBy.find((name) => name === text);
  if (named !== undefined) return named;
  if (isAttributeName(text)) return text;
  throw new InvalidArgumentError(`Allowed choices are ${namedBy.join(', ')}, attributes.NAME.`);
}

/** The values of a dimension that are compared, and a sentence on a name without any request. */
export interface ComparedValues extends ChosenValues {
  readonly unknown?: string | undefined;
}

/**
 * Reads the values that both sides have requests with. Requests without a region or type cannot be chosen.
 *
 * @throws OperatorError TAILMARK_USAGE of files and incidents, of a facet, and of a dimension that no request has.
 */
export async function comparedValues(
  config: Config,
  by: ComparedBy,
  asked: AskedComparison,
  { cold, ...of }: ComparedRequests,
  io: Io,
): Promise<ComparedValues> {
  if (asked.kind === 'files')
    throw cannot('--by must not be given with files: it reads what is stored');
  if (asked.kind === 'incident') throw cannot('--by must not be given with --incident');
  const { dimensions, facets } = config.windows;
  const isKept = dimensions.includes(by);
  if (!isKept && isAttributeName(by) && facets.includes(by)) {
    throw cannot(`windows.dimensions must have ${by}: facets have too little stored for a verdict`);
  }
  if (!isKept && !isAttributeName(by)) throw notKeptBy(by, config, 'dimensions');
  const { version, baseline } = asked;
  const [a, b] = asked.kind === 'ranges' ? [asked.a, asked.b] : [asked.range, asked.range];
  return withClickHouse(config, io, 'read values', async (client) => {
    const all = await readValues(client, by, {
      ...{ ...of, coldStart: String(cold) },
      a: { ...a, version: baseline },
      b: { ...b, version },
    });
    const values = isAttributeName(by) ? all : all.filter(({ value }) => value !== '');
    if (!isKept && all.length > 0 && all.every(({ value }) => value === '')) {
      throw notKeptBy(by, config, 'dimensions');
    }
    const { model, region, requestType: request_type, attributePairs } = of;
    const names = { model, region, request_type, attributePairs };
    const unknown = values.length === 0 ? await unknownIn(client, names) : undefined;
    return { ...chosenValues(values), unknown: unknown && unknownText(unknown) };
  });
}

/** The requests with one value. */
export function withValue(of: ComparedRequests, by: ComparedBy, value: string): ComparedRequests {
  if (by === 'region') return { ...of, region: value };
  if (by === 'request_type') return { ...of, requestType: value };
  return { ...of, attributePairs: [...of.attributePairs, attributePair(attributeKey(by), value)] };
}

function cannot(rule: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot compare by values as ${rule}`);
}
