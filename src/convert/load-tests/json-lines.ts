import type { DraftSink, Origin } from '../../formats/format-reader.ts';
import type { Line } from '../lines.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

interface JsonLine {
  readonly number: number;
  readonly text: string;
  readonly value: JsonObject;
}

/** Origin of something that stands alone in a text, or in the text that is made when it is asked for. */
export const originOf = (text: string | (() => string)): Origin => ({
  bytes: () => Buffer.from(typeof text === 'string' ? text : text()),
});

/** Whether a value is a JSON object. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object that a value is; without members where it is another. */
export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

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
      if (isJsonObject(value)) yield { number, text, value };
      else {
        const reason = value === undefined ? 'invalid_json' : 'not_an_object';
        const detail = `Line ${number} must be a JSON object: it begins with ${JSON.stringify(text.slice(0, 40))}`;
        sink.reject(reason, detail, originOf(text));
      }
    }
  }
}

/** The value of a JSON text; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
