import {
  type AttributeName,
  attributePrefix,
  isAttributeName,
  totalStage,
} from '../base/dimensions.ts';
import { attributesOf } from './attributes.ts';
import { closestNames } from './closest-names.ts';

/** Things that a question can name, in the order in which names are looked up. */
export const namedThings = ['model', 'version', 'region', 'request_type', 'stage'] as const;
export type NamedThing = (typeof namedThings)[number];

/** Names of a question; '' matches any value. */
export interface AskedNames extends Readonly<Partial<Record<NamedThing, string>>> {
  /** Pairs of own dimensions (`attributePair`); one without a value stands for requests without one. */
  readonly attributePairs?: readonly string[] | undefined;
}

/** A name that no request has. */
export interface UnknownOne {
  readonly thing: NamedThing | AttributeName;
  readonly name: string;
  /** Whose versions, regions … were looked at; '' for those of all models. */
  readonly model: string;
  /** Names that there are. */
  readonly known: readonly string[];
}

/**
 * The first name of a question that no request has; undefined where all are known.
 *
 * @param valuesOf values of the requests of a model ('' for all), or undefined where there are too many to tell.
 */
export async function findUnknown(
  asked: AskedNames,
  valuesOf: (thing: UnknownOne['thing'], model: string) => Promise<readonly string[] | undefined>,
): Promise<UnknownOne | undefined> {
  for (const [thing, name] of namesIn(asked)) {
    // Whole requests are asked for also of a model whose events have no total.
    if (thing === 'stage' && name === totalStage) continue;
    const model = thing === 'model' ? '' : (asked.model ?? '');
    const known = await valuesOf(thing, model);
    if (known?.includes(name) === false) return { thing, name, model, known };
  }
  return undefined;
}

/** The names that a question has. */
function namesIn(asked: AskedNames): (readonly [thing: UnknownOne['thing'], name: string])[] {
  const own = [...attributesOf(asked.attributePairs?.join() ?? '')];
  return [
    ...namedThings.flatMap((thing) => (asked[thing] ? [[thing, asked[thing]] as const] : [])),
    ...own.map(([name, value]) => [`${attributePrefix}${name}` as const, value] as const),
  ];
}

const plurals = {
  model: 'models',
  version: 'versions',
  region: 'regions',
  request_type: 'request types',
  stage: 'stages',
} as const satisfies Record<NamedThing, string>;

/** 'No request of model "rnker" is stored. Known models: ranker, embedder.' */
export function unknownText(
  { thing, name, model, known }: UnknownOne,
  where = 'is stored',
): string {
  const of = model === '' ? '' : ` of model ${JSON.stringify(model)}`;
  const names = known.filter((value) => value !== '');
  if (isAttributeName(thing)) {
    if (names.length === 0) {
      return `No request${of} has any ${thing}. Events are kept by it while windows.dimensions has it.`;
    }
    const lacks = name === '' ? `is without ${thing}` : `has the ${thing} ${JSON.stringify(name)}`;
    return `No request${of} ${lacks}. Known values: ${closestNames(name, known)}.`;
  }
  const named = `${thing.replace('_', ' ')} ${JSON.stringify(name)}`;
  const what =
    thing === 'model' ? `No request of ${named} ${where}.` : `No request${of} has the ${named}.`;
  return names.length === 0
    ? what
    : `${what} Known ${plurals[thing]}: ${closestNames(name, names)}.`;
}
