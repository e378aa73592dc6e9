import { OperatorError } from '../../base/operator-error.ts';
import { closest } from '../../config/closest.ts';
import { type MappingFile, readMapping, readPreset } from '../../config/presets.ts';
import type { DraftSink } from '../../formats/format-reader.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import { compileMapping, type Mapped } from '../../formats/mapping/compile-mapping.ts';
import { type Mapping, mappingSchema } from '../../formats/mapping/mapping-schema.ts';
import type { FileFormat } from '../file-format.ts';
import { byteLines } from '../lines.ts';

/** Longest line, in bytes. */
const maxLineBytes = 16 * 1024 * 1024;

const isBlank = (bytes: Buffer) => bytes.every((byte) => byte === 0x20 || byte === 0x09);

/**
 * Makes a format of a user's mapping, for files with one JSON object a line.
 *
 * @param text YAML of the mapping.
 * @param file its name, for messages.
 * @throws OperatorError TAILMARK_CONFIG_INVALID with every problem of the mapping and its place.
 */
export function mappedFormat(text: string, file: string): FileFormat {
  const mapping = checked(readMapping(text, file), file);
  return formatOf(file, `JSON lines, by the mapping ${file}`, [], () => mapping);
}

/**
 * Makes a format of config/presets/<name>.yaml.
 *
 * @param signs keys that the first object of such a file has, all of them.
 */
export function presetFormat(name: string, what: string, signs: readonly string[]): FileFormat {
  let mapping: Mapping | undefined;
  return formatOf(name, what, signs, () => {
    mapping ??= checked(readPreset(name), name);
    return mapping;
  });
}

function formatOf(
  name: string,
  what: string,
  signs: readonly string[],
  mappingOf: () => Mapping,
): FileFormat {
  return {
    name,
    what,
    recognise: (head) => (hasKeys(head, signs) ? `keys ${signs.join(', ')}` : undefined),
    async convert(files, options, sink) {
      const map = compileMapping(mappingOf(), options.model);
      for (const file of files) {
        for await (const { bytes, isTooLong } of byteLines(file.open(), maxLineBytes)) {
          if (!isBlank(bytes)) convertLine(bytes, isTooLong, map, sink);
        }
      }
    },
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function convertLine(
  bytes: Buffer,
  isTooLong: boolean,
  map: ReturnType<typeof compileMapping>,
  sink: DraftSink,
): void {
  const mapped = isTooLong ? tooLongLine : mappedLine(bytes, map);
  const origin = { bytes: () => Buffer.from(bytes) };
  if (mapped === 'skip') sink.skip(1);
  else if ('draft' in mapped) sink.draft(mapped.draft, origin);
  else sink.reject(mapped.reason, mapped.detail, origin);
}

const tooLongLine: Mapped = {
  reason: 'message_too_large',
  detail: `a line must have at most ${maxLineBytes} bytes: it has more`,
};

function mappedLine(bytes: Buffer, map: ReturnType<typeof compileMapping>): Mapped {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { reason: 'invalid_utf8', detail: 'a line must be UTF-8: some bytes are not' };
  }
  const value = parsed(text);
  if (value !== undefined) return map(value);
  const detail = `a line must be valid JSON: it is ${beginning(text)}`;
  return { reason: 'invalid_json', detail };
}

function beginning(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function hasKeys(head: string, keys: readonly string[]): boolean {
  const end = head.indexOf('\n');
  const object = objectOf(parsed(end < 0 ? head : head.slice(0, end)));
  if (object === undefined || keys.length === 0) return false;
  return keys.every((key) => Object.hasOwn(object, key));
}

type Issue = NonNullable<ReturnType<typeof mappingSchema.safeParse>['error']>['issues'][number];

function checked(file: MappingFile, name: string): Mapping {
  const result = mappingSchema.safeParse(file.value);
  const issues = result.success ? [] : result.error.issues.flatMap((issue) => innermost(issue));
  const problems = [
    ...file.problems.map(({ where, message }) => `${where}: ${message}`),
    ...issues.map(({ path, message }) => {
      const key = path.map(String).join('.');
      return `${file.where(path)}: ${key === '' ? 'the mapping' : key} ${message}`;
    }),
  ];
  if (result.success && problems.length === 0) return result.data;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new OperatorError(
    'TAILMARK_CONFIG_INVALID',
    [`Cannot use the mapping ${name}: ${count}`, ...problems.map((each) => `  ${each}`)].join('\n'),
    { hint: 'The presets in config/presets show every key in use.' },
  );
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The problems of the form that was meant where several are allowed: the one that fits best. */
function innermost(issue: Issue, above: readonly PropertyKey[] = []): readonly Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant =
        above.length + issue.path.length === 0 ? closest(key, keysOfMapping) : undefined;
      const hint = meant === undefined ? '' : `: did you mean ${meant}?`;
      return { path: [...path, key], message: `is not a key of a mapping here${hint}` };
    });
  }
  if (issue.code !== 'invalid_union') return [{ path, message: plain(issue) }];
  const forms = issue.errors
    .filter((form) => !form.some((each) => each.path.length === 0 && each.code === 'invalid_type'))
    .map((form) => form.flatMap((each) => innermost(each, path)));
  const best = forms.sort((a, b) => a.length - b.length)[0];
  return best === undefined ? [{ path, message: plain(issue) }] : best;
}

const keysOfMapping = Object.keys(mappingSchema.shape);

/** zod's own words, where the schema has none, as a rule. */
function plain({ message }: Issue): string {
  if (message.startsWith('must')) return message;
  if (message.includes('received undefined')) return 'must be given';
  const expected = /expected (\w+)/.exec(message)?.[1] ?? '';
  const names: Readonly<Record<string, string>> = {
    array: 'a list',
    object: 'a map',
    record: 'a map',
  };
  return `must be ${names[expected] ?? 'of another form'}`;
}
