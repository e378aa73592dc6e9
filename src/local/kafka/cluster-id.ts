/**
 * The id of a new Kafka cluster: 16 bytes in base64url, as Kafka writes UUIDs. The first bit is
 * cleared: an id that began with a dash would be an option to the tool that formats the storage.
 */
export function clusterId(random: Uint8Array): string {
  const bytes = Buffer.from(random);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('base64url');
}
