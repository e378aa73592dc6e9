import type { ByteCursor } from '../byte-cursor.ts';
import { dateTimeText } from '../date-time-text.ts';
import { recordLimits } from '../record-limits.ts';

type Read = (cursor: ByteCursor) => unknown;
type Definition = Readonly<Record<string, unknown>>;

/**
 * Reader of a logical type, over that of its underlying type; undefined for what has none, or one that is not
 * known, which is read as its underlying type (specification 1.11).
 *
 * | logical type | value |
 * |---|---|
 * | `timestamp-millis`, `-micros`, `-nanos` | RFC 3339 text in UTC, which needs no unit in a mapping |
 * | `decimal` | text with its decimal point |
 * | `duration` | `{months, days, millis}` |
 * | `uuid` of 16 bytes | text with dashes |
 * | `date`, `time-*`, `local-timestamp-*` | the number as it is |
 */
export function logicalReader(definition: Definition, read: Read): Read | undefined {
  const { logicalType, type, size } = definition;
  const isLong = type === 'long';
  if (logicalType === 'timestamp-millis' && isLong) return timestampReader(read, 3);
  if (logicalType === 'timestamp-micros' && isLong) return timestampReader(read, 6);
  if (logicalType === 'timestamp-nanos' && isLong) return timestampReader(read, 9);
  if (logicalType === 'decimal' && (type === 'bytes' || type === 'fixed')) {
    return decimalReader(read, definition.scale);
  }
  if (logicalType === 'duration' && type === 'fixed' && size === 12) return durationOf(read);
  if (logicalType === 'uuid' && type === 'fixed' && size === 16) {
    return (cursor) =>
      String(read(cursor)).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
  return undefined;
}

/** Dates beyond the years that RFC 3339 can write stay numbers. */
function timestampReader(read: Read, digits: 3 | 6 | 9): Read {
  const perSecond = 10 ** digits;
  return (cursor) => {
    const value = read(cursor);
    if (typeof value === 'number') {
      const seconds = Math.floor(value / perSecond);
      return dateTimeText(seconds, value - seconds * perSecond, digits) ?? value;
    }
    const whole = BigInt(String(value));
    const remainder = ((whole % BigInt(perSecond)) + BigInt(perSecond)) % BigInt(perSecond);
    const seconds = Number((whole - remainder) / BigInt(perSecond));
    return dateTimeText(seconds, Number(remainder), digits) ?? value;
  };
}

function decimalReader(read: Read, scale: unknown): Read | undefined {
  const places = scale === undefined ? 0 : scale;
  if (!Number.isSafeInteger(places) || (places as number) < 0 || (places as number) > 100) {
    return undefined;
  }
  return (cursor) => {
    const hex = String(read(cursor));
    if (hex.length > 2 * recordLimits.decimalBytes) return hex;
    return decimalText(
      hex === '' ? 0n : BigInt.asIntN(hex.length * 4, BigInt(`0x${hex}`)),
      places as number,
    );
  };
}

function decimalText(unscaled: bigint, places: number): string {
  if (places === 0) return unscaled.toString();
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(places + 1, '0');
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

function durationOf(read: Read): Read {
  return (cursor) => {
    const bytes = Buffer.from(String(read(cursor)), 'hex');
    return {
      months: bytes.readUInt32LE(0),
      days: bytes.readUInt32LE(4),
      millis: bytes.readUInt32LE(8),
    };
  };
}
