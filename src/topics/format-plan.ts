import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { ConfigError, type ConfigProblem } from '../config/config-error.ts';
import { type MappingFile, readMapping, readPreset } from '../config/read/presets.ts';
import type { TopicFormat } from '../config/topic-format.ts';
import { checkedMapping, checkedSpanRules } from '../formats/mapping/checked-mapping.ts';
import type { Mapping } from '../formats/mapping/mapping-schema.ts';
import type { RecordReader } from '../formats/records/record-reader.ts';
import type { SpanRules } from '../formats/spans/rules/span-rules.ts';
import { recordReaderOf } from './record-reader-of.ts';

/** A format with what its files hold. */
export interface FormatPlan {
  readonly given: TopicFormat;
  readonly mapping: Mapping | undefined;
  /** Rules of single spans, from `mapping`. */
  readonly spanRules: SpanRules | undefined;
  /** Reads records by the user's own schema. It has no state. */
  readonly fileReader: RecordReader | undefined;
  /** Of the format and its rules, in 12 characters; undefined for timing events. */
  readonly identity: string | undefined;
}

/**
 * Reads the files that a format names.
 *
 * @throws OperatorError TAILMARK_CONFIG_INVALID where one is missing or wrong.
 */
export function planOf(given: TopicFormat): FormatPlan {
  const { format = 'timing', preset, model, framing, message, schema_file: schemaFile } = given;
  const readsSpans = format === 'otlp_json' || format === 'otlp_proto';
  const rules = readsSpans && given.mapping !== undefined ? rulesFile(given.mapping) : undefined;
  const mapping = readsSpans ? undefined : mappingOf(given);
  const schema = schemaFile === undefined ? undefined : textOf(schemaFile, 'schema');
  const parts = [format, preset, model, framing, message, mapping, rules?.value, schema];
  return {
    given,
    mapping,
    spanRules: rules && checkedSpanRules(rules, given.mapping ?? ''),
    fileReader: schema === undefined ? undefined : fileReaderOf(given, schema),
    identity: format === 'timing' ? undefined : identityOf(parts),
  };
}

/**
 * Returns the mistakes in the files that a format names, each file's separately.
 *
 * @param place of the format in the configuration.
 */
export function problemsOfFiles(
  given: TopicFormat,
  place: Pick<ConfigProblem, 'where' | 'key'>,
): readonly ConfigProblem[] {
  const alone = [
    { ...given, schema_file: undefined },
    { ...given, mapping: undefined },
  ];
  return alone.flatMap((each): readonly ConfigProblem[] => {
    try {
      planOf(each);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      if (!(error instanceof OperatorError)) throw error;
      return [{ ...place, message: error.message, hint: error.hint }];
    }
  });
}

function rulesFile(file: string): MappingFile {
  return readMapping(textOf(file, 'mapping'), file);
}

function fileReaderOf(given: TopicFormat, text: string): RecordReader | undefined {
  const { format, message, schema_file: file = '' } = given;
  const options = { framing: 'none', schema: { file, text } } as const;
  if (format === 'avro') return recordReaderOf({ ...options, format });
  return format === 'protobuf' ? recordReaderOf({ ...options, format, message }) : undefined;
}

function mappingOf({ format, preset, mapping: file, unwrap }: TopicFormat): Mapping | undefined {
  const found =
    file !== undefined
      ? checkedMapping(readMapping(textOf(file, 'mapping'), file), file)
      : format === 'json' && preset !== undefined
        ? checkedMapping(readPreset(preset), preset)
        : undefined;
  return found !== undefined && unwrap !== undefined ? { ...found, unwrap } : found;
}

function textOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      `Cannot read the ${what} of a topic as the file must be readable: ${file} gives ${reason}`,
      { hint: 'Paths are relative to the directory that tailmark runs in.', cause: error },
    );
  }
}

function identityOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12);
}
