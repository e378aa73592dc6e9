/** First bytes of what people send by mistake, and its name. */
const signs: readonly { readonly bytes: readonly number[]; readonly name: string }[] = [
  { bytes: [0x4f, 0x62, 0x6a, 0x01], name: 'an Avro object container file' },
  { bytes: [0xc3, 0x01], name: "Avro's single-object encoding, which is not supported" },
  { bytes: [0x1f, 0x8b], name: 'gzip' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], name: 'Zstandard' },
  { bytes: [0xff, 0x06, 0x00, 0x00, 0x73], name: 'Snappy' },
  { bytes: [0xac, 0xed, 0x00, 0x05], name: 'a serialized Java object' },
];

/** Ids of registries count from 1: a first byte 0 before a larger number is something else. */
const largestPlausibleId = 10_000_000;

const shownBytes = 12;

/** Says what bytes look like, as the end of a sentence: `JSON: {"ts":1`, or `bytes 08 96 01`. */
export function shownMessage(message: Buffer): string {
  if (message.length === 0) return 'empty';
  const id = message.length >= 5 && message[0] === 0 ? message.readUInt32BE(1) : 0;
  if (id > 0 && id <= largestPlausibleId) {
    return `the header of a schema registry (byte 0, schema id ${id}); set framing: confluent`;
  }
  const sign = signs.find(({ bytes }) => bytes.every((byte, at) => message[at] === byte));
  if (sign !== undefined) return sign.name;
  const head = message.subarray(0, 40);
  const isText = head.every(
    (byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d,
  );
  if (isText) {
    const text = JSON.stringify(head.toString('utf8').replace(/\uFFFD+$/, ''));
    return `${/^\s*[{[]/.test(head.toString('latin1')) ? 'JSON' : 'text'}: ${text}`;
  }
  const hex = message
    .subarray(0, shownBytes)
    .toString('hex')
    .replaceAll(/(..)(?=.)/g, '$1 ');
  return `bytes ${hex}${message.length > shownBytes ? ' …' : ''}`;
}
