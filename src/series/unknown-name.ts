import { totalStage } from '../base/dimensions.ts';
import { closestNames } from './closest-names.ts';

/** Things that a question can name, in the order in which names are looked up. */
export const namedThings = ['model', 'version', 'region', 'request_type', 'stage'] as const;
export type NamedThing = (typeof namedThings)[number];

/** Names of a question; '' matches any value. */
export type AskedNames = Readonly<Partial<Record<NamedThing, string>>>;

/** A name that no request has. */
export interface UnknownOne {
  readonly thing: NamedThing;
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
  valuesOf: (thing: NamedThing, model: string) => Promise<readonly string[] | undefined>,
): Promise<UnknownOne | undefined> {
  for (const thing of namedThings) {
    const name = asked[thing] ?? '';
    // Whole requests are asked for also of a model whose events have no total.
    if (name === '' || (thing === 'stage' && name === totalStage)) continue;
    const model = thing === 'model' ? '' : (asked.model ?? '');
    const known = await valuesOf(thing, model);
    if (known?.includes(name) === false) return { thing, name, model, known };
  }
  return undefined;
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
  const named = `${thing.replace('_', ' ')} ${JSON.stringify(name)}`;
  const of = model === '' ? '' : ` of model ${JSON.stringify(model)}`;
  const what =
    thing === 'model' ? `No request of ${named} ${where}.` : `No request${of} has the ${named}.`;
  const names = known.filter((value) => value !== '');
  return names.length === 0
    ? what
    : `${what} Known ${plurals[thing]}: ${closestNames(name, names)}.`;
}
