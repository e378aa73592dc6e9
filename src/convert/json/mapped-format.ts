import { readMapping, readPreset } from '../../config/presets.ts';
import type { DraftSink } from '../../formats/format-reader.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import { checkedMapping } from '../../formats/mapping/checked-mapping.ts';
import { compileMapping, type Mapped } from '../../formats/mapping/compile-mapping.ts';
import type { FoundFields } from '../../formats/mapping/found-fields.ts';
import type { Mapping } from '../../formats/mapping/mapping-schema.ts';
import { shownLine, textLines } from '../../formats/mapping/text-lines.ts';
import type { FileFormat } from '../file-format.ts';
import { byteLines } from '../lines.ts';

/** Longest line, in bytes. */
const maxLineBytes = 16 * 1024 * 1024;

const isBlank = (bytes: Buffer) => bytes.every((byte) => byte === 0x20 || byte === 0x09);

/**
 * Makes a format of a user's mapping, for files with one JSON object a line, or lines of text that it names.
 *
 * @param text YAML of the mapping.
 * @param file its name, for messages.
 * @param found watches which fields of it the records have.
 * @throws OperatorError TAILMARK_CONFIG_INVALID with every problem of the mapping and its place.
 */
export function mappedFormat(text: string, file: string, found?: FoundFields): FileFormat {
  const mapping = checkedMapping(readMapping(text, file), file);
  return formatOf(file, `lines, by the mapping ${file}`, [], () => mapping, found);
}

/**
 * Makes a format of config/presets/<name>.yaml.
 *
 * @param signs keys that the first object of such a file has, all of them.
 */
export function presetFormat(name: string, what: string, signs: readonly string[]): FileFormat {
  let mapping: Mapping | undefined;
  return formatOf(name, what, signs, () => {
    mapping ??= checkedMapping(readPreset(name), name);
    return mapping;
  });
}

function formatOf(
  name: string,
  what: string,
  signs: readonly string[],
  mappingOf: () => Mapping,
  found?: FoundFields,
): FileFormat {
  return {
    name,
    what,
    recognise: (head) => {
      const end = head.indexOf('\n');
      const line = end < 0 ? head : head.slice(0, end);
      if (hasKeys(line, signs)) return `keys ${signs.join(', ')}`;
      const text = textOf(mappingOf());
      return text?.read(line.trimEnd()) && `lines of ${text.what}`;
    },
    async convert(files, options, sink) {
      const mapping = mappingOf();
      const compiled = compileMapping(mapping, options.model);
      const map = found?.watch(mapping, compiled) ?? compiled;
      const reader = { map, text: textOf(mapping) };
      for (const file of files) {
        for await (const { bytes, isTooLong } of byteLines(file.open(), maxLineBytes)) {
          if (!isBlank(bytes)) convertLine(bytes, isTooLong, reader, sink);
        }
      }
    },
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

interface LineReader {
  readonly map: ReturnType<typeof compileMapping>;
  /** Lines that are no JSON. */
  readonly text: ReturnType<typeof textOf>;
}

function textOf({ lines }: Mapping) {
  return lines === undefined ? undefined : textLines[lines];
}

function convertLine(bytes: Buffer, isTooLong: boolean, reader: LineReader, sink: DraftSink): void {
  const mapped = isTooLong ? tooLongLine : mappedLine(bytes, reader);
  const origin = { bytes: () => Buffer.from(bytes) };
  if (mapped === 'skip') sink.skip(1);
  else if ('draft' in mapped) sink.draft(mapped.draft, origin);
  else sink.reject(mapped.reason, mapped.detail, origin);
}

const tooLongLine: Mapped = {
  reason: 'message_too_large',
  detail: `a line must have at most ${maxLineBytes} bytes: it has more`,
};

function mappedLine(bytes: Buffer, { map, text: textual }: LineReader): Mapped {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { reason: 'invalid_utf8', detail: 'a line must be UTF-8: some bytes are not' };
  }
  const value = parsed(text);
  if (value !== undefined) return map(value);
  const object = textual?.read(text.trimEnd());
  if (object !== undefined) return map(object);
  const isText = textual !== undefined && !text.trimStart().startsWith('{');
  return isText
    ? {
        reason: 'invalid_line',
        detail: `a line must be JSON, or ${textual.what}: it is ${shownLine(text)}`,
      }
    : { reason: 'invalid_json', detail: `a line must be valid JSON: it is ${shownLine(text)}` };
}

function hasKeys(line: string, keys: readonly string[]): boolean {
  const object = objectOf(parsed(line));
  if (object === undefined || keys.length === 0) return false;
  return keys.every((key) => Object.hasOwn(object, key));
}
