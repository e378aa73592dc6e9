import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { readMapping, readPreset } from '../config/presets.ts';
import type { TopicFormat } from '../config/topic-format.ts';
import { checkedMapping, checkedSpanRules } from '../formats/mapping/checked-mapping.ts';
import type { Mapping } from '../formats/mapping/mapping-schema.ts';
import type { SchemaFile } from '../formats/records/record-reader-of.ts';
import type { SpanRules } from '../formats/spans/span-rules.ts';

/** A format with what its files hold. */
export interface FormatPlan {
  readonly given: TopicFormat;
  readonly mapping: Mapping | undefined;
  /** Rules of single spans, from `mapping`. */
  readonly spanRules: SpanRules | undefined;
  /** The user's own schema. */
  readonly schema: SchemaFile | undefined;
  /** Of the format and its rules, in 12 characters; undefined for timing events. */
  readonly identity: string | undefined;
}

/**
 * Reads the files that a format names.
 *
 * @throws OperatorError TAILMARK_CONFIG_INVALID where one is missing or wrong.
 */
export function planOf(given: TopicFormat): FormatPlan {
  const readsSpans = given.format === 'otlp_json' || given.format === 'otlp_proto';
  const rulesText =
    readsSpans && given.mapping !== undefined ? textOf(given.mapping, 'mapping') : undefined;
  const spanRules =
    rulesText === undefined
      ? undefined
      : checkedSpanRules(readMapping(rulesText, given.mapping ?? ''), given.mapping ?? '');
  const mapping = readsSpans ? undefined : mappingOf(given);
  const { schema_file: schemaFile } = given;
  const schema =
    schemaFile === undefined ? undefined : { file: schemaFile, text: textOf(schemaFile, 'schema') };
  const { format = 'timing', preset, model, framing, message } = given;
  const identity =
    format === 'timing'
      ? undefined
      : identityOf([format, preset, model, framing, message, mapping, rulesText, schema?.text]);
  return { given, mapping, spanRules, schema, identity };
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
