/**
 * Makes the id of a new Kafka cluster: 16 bytes in base64url, as Kafka writes UUIDs. The first bit is
 * cleared, because the format tool would read a leading dash as an option.
 */
export function clusterId(random: Uint8Array): string {
  const bytes = Buffer.from(random);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('base64url');
}
