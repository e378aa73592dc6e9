import type { DraftSink, Origin } from '../../formats/format-reader.ts';
import { type JsonObject, objectOf, parsed } from '../../formats/loose-json.ts';
import type { Line } from '../lines.ts';

interface JsonLine {
  readonly number: number;
  readonly text: string;
  readonly value: JsonObject;
}

/** Origin of something that stands alone in a text, or in the text that is made when it is asked for. */
export const originOf = (text: string | (() => string)): Origin => ({
  bytes: () => Buffer.from(typeof text === 'string' ? text : text()),
});

/** Yields the objects of a file with one a line. Other lines are rejected, empty ones left out. */
export async function* jsonLines(
  source: AsyncIterable<Line>,
  sink: DraftSink,
): AsyncGenerator<JsonLine, void> {
  for await (const { number, text } of source) {
    if (text === undefined) {
      sink.reject('message_too_large', `Line ${number} must be at most 16 MiB long`, originOf(''));
    } else if (text.trim() !== '') {
      const value = parsed(text);
      const object = objectOf(value);
      if (object !== undefined) yield { number, text, value: object };
      else {
        const reason = value === undefined ? 'invalid_json' : 'not_an_object';
        const detail = `Line ${number} must be a JSON object: it begins with ${JSON.stringify(text.slice(0, 40))}`;
        sink.reject(reason, detail, originOf(text));
      }
    }
  }
}
