/**
 * Files that registries and compilers know without a reference, and that protobufjs does not bring. Messages
 * without fields stand for theirs: a record may hold them, and they are read as empty.
 */
const messages: Readonly<Record<string, string>> = {
  'confluent/type/decimal.proto': 'Decimal',
  'google/protobuf/api.proto': 'Api',
  'google/protobuf/source_context.proto': 'SourceContext',
  'google/protobuf/type.proto': 'Type',
  'google/type/color.proto': 'Color',
  'google/type/date.proto': 'Date',
  'google/type/datetime.proto': 'DateTime',
  'google/type/expr.proto': 'Expr',
  'google/type/fraction.proto': 'Fraction',
  'google/type/latlng.proto': 'LatLng',
  'google/type/money.proto': 'Money',
  'google/type/postal_address.proto': 'PostalAddress',
  'google/type/quaternion.proto': 'Quaternion',
  'google/type/timeofday.proto': 'TimeOfDay',
};

const enums: Readonly<Record<string, string>> = {
  'google/type/calendar_period.proto': 'CalendarPeriod',
  'google/type/dayofweek.proto': 'DayOfWeek',
  'google/type/month.proto': 'Month',
};

/** Options of files that declare their own; a reader of records needs none of them. */
const optionTypes = [
  ...[
    'File',
    'Message',
    'Field',
    'Oneof',
    'ExtensionRange',
    'Enum',
    'EnumValue',
    'Service',
    'Method',
  ],
].map((name) => `message ${name}Options { extensions 1000 to max; }`);

/** Text of such a file; undefined for every other name. */
export function stubOf(file: string): string | undefined {
  if (file === 'google/protobuf/descriptor.proto') {
    return `syntax = "proto2"; package google.protobuf; ${optionTypes.join(' ')}`;
  }
  if (file === 'confluent/meta.proto') return 'syntax = "proto3"; package confluent;';
  const scope = file.split('/').slice(0, -1).join('.');
  const head = `syntax = "proto3"; package ${scope};`;
  if (Object.hasOwn(messages, file)) return `${head} message ${messages[file]} {}`;
  if (Object.hasOwn(enums, file)) return `${head} enum ${enums[file]} { UNSPECIFIED = 0; }`;
  return undefined;
}
