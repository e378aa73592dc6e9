import { dateTimeText } from '../date-time-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Values of Google's well-known types.
 *
 * | type | value |
 * |---|---|
 * | Timestamp | RFC 3339 text in UTC; the fields themselves beyond the years 1 to 9999 |
 * | Duration | seconds, exact to the nanosecond below 11 days |
 * | DoubleValue … BytesValue | the value itself |
 * | Struct, Value, ListValue | the JSON that they stand for |
 */
export const wellKnown: ReadonlyMap<string, (fields: Fields) => unknown> = new Map([
  ['.google.protobuf.Timestamp', timestamp],
  ['.google.protobuf.Duration', duration],
  ...['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map(
    (name) => [`.google.protobuf.${name}Value`, ({ value }: Fields) => value] as const,
  ),
  ['.google.protobuf.Struct', ({ fields = {} }: Fields) => fields],
  ['.google.protobuf.ListValue', ({ values = [] }: Fields) => values],
  ['.google.protobuf.Value', anyJson],
]);

function timestamp(fields: Fields): unknown {
  const { seconds = 0, nanos = 0 } = fields;
  if (typeof seconds !== 'number' || typeof nanos !== 'number') return fields;
  return dateTimeText(seconds, nanos, 9) ?? fields;
}

/**
 * Nanoseconds have the sign of the seconds. The decimal text is read, as a sum of floating numbers is not
 * exact.
 */
function duration(fields: Fields): unknown {
  const { seconds = 0, nanos = 0 } = fields;
  if (typeof seconds !== 'number' || typeof nanos !== 'number') return fields;
  const sign = seconds < 0 || nanos < 0 ? '-' : '';
  return Number(`${sign}${Math.abs(seconds)}.${String(Math.abs(nanos)).padStart(9, '0')}`);
}

function anyJson(fields: Fields): unknown {
  const [value] = Object.entries(fields).filter(([name]) => name !== 'nullValue');
  return value === undefined ? null : value[1];
}
