import { cleanText } from '../alert/message/clean-text.ts';
import { closestFirst } from '../series/closest-names.ts';
import { type UnknownOne, unknownText } from '../series/unknown-name.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { unknownIn } from '../sink/read-seen-values.ts';
import type { Filters } from './question.ts';

/** Known names of an answer, the most similar one first. */
const mostKnown = 20;

/** A question about something that is not stored. */
export class UnknownName extends Error {
  readonly thing: UnknownOne['thing'] | undefined;
  readonly known: readonly string[];

  constructor(message: string, unknown?: UnknownOne) {
    super(message);
    this.thing = unknown?.thing;
    this.known = unknown === undefined ? [] : knownOf(unknown);
  }
}

function knownOf({ name, known }: UnknownOne): readonly string[] {
  return closestFirst(name, known.filter(Boolean)).slice(0, mostKnown);
}

/**
 * Tells what has no request in a range from what has never had any. Asked where an answer is empty.
 *
 * @returns for an answer: a sentence on a version, region, own dimension … that the model has never had. It may
 *   come, as a model's next version does; a model that nobody knows is a mistake.
 * @throws UnknownName for a model.
 */
export async function unknownNames(
  client: ClickHouseClient,
  { model, version, region, requestType, attributePairs }: Omit<Filters, 'start'>,
  stage = '',
): Promise<{ readonly unknown?: string }> {
  const asked = { model, version, region, request_type: requestType, stage, attributePairs };
  const unknown = await unknownIn(client, asked);
  if (unknown === undefined) return {};
  const text = unknownText(unknown);
  if (unknown.thing === 'model') throw new UnknownName(text, unknown);
  return { unknown: cleanText(text, textChars) };
}

const textChars = 500;
