import { InvalidArgumentError } from 'commander';
import {
  type DimensionName,
  dimensions,
  isAttributeName,
  isDimensionName,
} from '../base/dimensions.ts';
import { type FacetName, facets } from '../base/facets.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import type { StageTails } from '../sink/windows/read-tails.ts';

/** Grouping of tails: a dimension of the series, whose digests are exact, or a facet, whose bands are not. */
export type TailsBy =
  | {
      readonly kind: 'dimension';
      readonly name: DimensionName;
      /** Reason why events are not kept by it now; undefined where they are. */
      readonly notKept?: OperatorError;
    }
  | { readonly kind: 'facet'; readonly name: FacetName };

/** Names that `--by` takes. */
export const byNames: readonly string[] = [
  ...dimensions.filter((name) => name !== 'model'),
  ...facets.filter((name) => name !== 'host'),
];

/** Reads `--by`: one of these names, or that of an own dimension or facet. */
export function byName(text: string): string {
  if (byNames.includes(text) || isAttributeName(text)) return text;
  throw new InvalidArgumentError(`Allowed choices are ${byNames.join(', ')}, attributes.NAME.`);
}

/** Flags of `tails` that choose among what facets are not stored by. */
const otherFlags = {
  stage: '--stage',
  region: '--region',
  requestType: '--request-type',
  cold: '--cold',
  warm: '--warm',
  input: '--input',
  where: '--where',
} as const;

interface GivenFlags extends Readonly<Partial<Record<keyof typeof otherFlags, unknown>>> {
  readonly by?: unknown;
  readonly where?: unknown;
  readonly model?: unknown;
}

/**
 * Meaning of `--by` under a configuration; undefined where it is not given.
 *
 * @throws OperatorError for a dimension of tailmark that no series has, and for flags that a facet cannot be asked
 *   with.
 */
export function tailsBy(options: GivenFlags, config: Config): TailsBy | undefined {
  const { by } = options;
  if (typeof by !== 'string') return undefined;
  if (isDimensionName(by) && config.windows.dimensions.includes(by)) {
    return { kind: 'dimension', name: by };
  }
  const isOwnFacet = isAttributeName(by) && config.windows.facets.includes(by);
  const facet = isOwnFacet ? by : facets.find((name) => name === by);
  const of = config.windows;
  if (facet === undefined || !of.facets.includes(facet)) {
    const setting = facet === undefined ? 'dimensions' : 'facets';
    const notKept = notKeptBy(by, config, setting);
    // What is stored of an own dimension that was configured stays.
    if (isAttributeName(by)) return { kind: 'dimension', name: by, notKept };
    throw notKept;
  }
  checkFacetFlags(options, facet);
  return { kind: 'facet', name: facet };
}

/** The reason why nothing is grouped by a name that is not configured. */
export function notKeptBy(
  by: string,
  { windows }: Pick<Config, 'windows'>,
  setting: 'dimensions' | 'facets',
): OperatorError {
  return new OperatorError(
    'TAILMARK_USAGE',
    `Cannot group by ${by} as windows.${setting} must have it: it is ${JSON.stringify(windows[setting])}`,
    { hint: 'Events are kept by it from the time on when it is configured.' },
  );
}

/** @throws OperatorError where an own dimension is not configured, and no request has a value of it. */
export function requireKept(by: TailsBy | undefined, rows: readonly StageTails[]): void {
  if (rows.length === 0 || by?.kind !== 'dimension' || by.notKept === undefined) return;
  if (rows.some(({ value }) => value)) return;
  throw by.notKept;
}

function checkFacetFlags(options: GivenFlags, facet: FacetName): void {
  if (typeof options.model !== 'string') {
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot group by ${facet} as --model must be given: facets are stored by model`,
    );
  }
  const names = Object.keys(otherFlags) as (keyof typeof otherFlags)[];
  const given = names.find((name) => options[name] !== undefined && options[name] !== 'total');
  if (given === undefined) return;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot group by ${facet} as ${otherFlags[given]} must not be given: facets are stored for whole requests, by model and version`,
    { hint: 'Leave it out. --model-version, --since and --until are fine.' },
  );
}
