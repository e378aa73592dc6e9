import { readMapping, readPreset } from '../../config/read/presets.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { DraftSink, FormatReason } from '../../formats/format-reader.ts';
import { jsonBytes, objectOf, parsed } from '../../formats/loose-json.ts';
import { checkedMapping } from '../../formats/mapping/checked-mapping.ts';
import { compileMapping } from '../../formats/mapping/compile-mapping.ts';
import { finder } from '../../formats/mapping/compile-sources.ts';
import type { FoundFields } from '../../formats/mapping/found-fields.ts';
import type { Mapping } from '../../formats/mapping/mapping-schema.ts';
import { countedOnce, seenRequestsOf } from '../../formats/mapping/seen-requests.ts';
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
      const mapping = mappingOf();
      const text = textOf(mapping);
      const unwrapped = mapping.unwrap === undefined ? undefined : finder(mapping.unwrap);
      // Lines that a server writes while it starts may come first.
      for (const whole of head.split('\n')) {
        const inner = unwrapped?.(parsed(whole))?.value;
        const line = typeof inner === 'string' ? inner : whole;
        const isJson = /^\s*(?:\[\s*)?\{/.test(line);
        const value = (isJson ? parsed(line) : undefined) ?? text?.read(line.trim());
        if (isJson && hasKeys(value, signs)) return `keys ${signs.join(', ')}`;
        if (!isJson && value !== undefined) return `lines of ${text?.what}`;
      }
      return undefined;
    },
    async convert(files, options, sink) {
      const mapping = mappingOf();
      const compiled = compileMapping(mapping, options.model);
      const watched = found?.watch(mapping, compiled) ?? compiled;
      const map = countedOnce(watched, seenRequestsOf(mapping));
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
  const read = isTooLong ? tooLongLine : valueOfLine(bytes, reader.text);
  if (!('value' in read)) {
    sink.reject(read.reason, read.detail, { bytes: () => Buffer.from(bytes) });
    return;
  }
  const { value } = read;
  // Requests that were sent as one list are a line.
  for (const each of Array.isArray(value) && value.length > 0 ? value : [value]) {
    const origin = {
      bytes: () => (each === value ? Buffer.from(bytes) : jsonBytes((item) => item, each)),
    };
    const mapped = reader.map(each);
    if (mapped === 'skip') sink.skip(1);
    else if ('draft' in mapped) sink.draft(mapped.draft, origin);
    else sink.reject(mapped.reason, mapped.detail, origin);
  }
}

type Value =
  | { readonly value: unknown }
  | { readonly reason: RejectReason | FormatReason; readonly detail: string };

const tooLongLine: Value = {
  reason: 'message_too_large',
  detail: `a line must have at most ${maxLineBytes} bytes: it has more`,
};

function valueOfLine(bytes: Buffer, textual: LineReader['text']): Value {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { reason: 'invalid_utf8', detail: 'a line must be UTF-8: some bytes are not' };
  }
  const value = parsed(text) ?? textual?.read(text.trim());
  if (value !== undefined) return { value };
  const isText = textual !== undefined && !text.trimStart().startsWith('{');
  return isText
    ? {
        reason: 'invalid_line',
        detail: `a line must be JSON, or ${textual.what}: it is ${shownLine(text)}`,
      }
    : { reason: 'invalid_json', detail: `a line must be valid JSON: it is ${shownLine(text)}` };
}

function hasKeys(value: unknown, keys: readonly string[]): boolean {
  const object = objectOf(Array.isArray(value) ? value[0] : value);
  return object !== undefined && keys.length > 0 && keys.every((key) => Object.hasOwn(object, key));
}
