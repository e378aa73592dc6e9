import { BlockList, isIP } from 'node:net';

/** IPv4 and IPv6 addresses of one machine or link: nothing else has business there. */
const linkLocal = rangesOf([
  ['169.254.0.0', 16],
  ['fe80::', 10],
]);

/**
 * Services that give a machine's keys to whoever asks from it, where they are not link-local. Those of other
 * clouds are at 169.254.169.254.
 */
const metadata = rangesOf([
  ['100.100.100.200', 32], // Alibaba Cloud
  ['fd00:100::100:200', 128], // Alibaba Cloud
  ['168.63.129.16', 32], // Azure's wire server
  ['192.0.0.192', 32], // Oracle Cloud Classic
  ['fd00:c1::a9fe:a9fe', 128], // Oracle Cloud
  ['fd00:ec2::', 32], // AWS: metadata at ::254, EKS pod identity at ::23
  ['fd20:ce::254', 128], // Google Cloud
  ['fd00:42::42', 128], // Scaleway
  ['fd00:a9fe:a9fe::1', 128], // Akamai
]);

/** Names of such services. A proxy resolves names itself, so their addresses are not seen here. */
const metadataNames: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'instance-data.ec2.internal',
]);

/** A kind of IPv6 address that holds an IPv4 address. `BlockList` knows the mapped ones (::ffff:a.b.c.d). */
interface Embedding {
  /** First hexadecimal digits of the 32. */
  readonly prefix: string;
  /** Start of each of the 4 bytes, in digits. */
  readonly digits: readonly [number, number, number, number];
  /** True if the bits are inverted. */
  readonly isInverted?: boolean;
}

const lastBytes = [24, 26, 28, 30] as const;
const embeddings: readonly Embedding[] = [
  { prefix: `${'0'.repeat(16)}ffff0000`, digits: lastBytes }, // ::ffff:0:a.b.c.d, translated (RFC 2765)
  { prefix: '0'.repeat(24), digits: lastBytes }, // ::a.b.c.d, compatible (RFC 4291)
  { prefix: `0064ff9b${'0'.repeat(16)}`, digits: lastBytes }, // NAT64 (RFC 6052)
  // NAT64 of local use (RFC 8215) may be split at /48, /56, /64 or /96. Byte 8 holds no part of it.
  { prefix: '0064ff9b0001', digits: [12, 14, 18, 20] },
  { prefix: '0064ff9b0001', digits: [14, 18, 20, 22] },
  { prefix: '0064ff9b0001', digits: [18, 20, 22, 24] },
  { prefix: '0064ff9b0001', digits: lastBytes },
  { prefix: '2002', digits: [4, 6, 8, 10] }, // 6to4 (RFC 3056)
  { prefix: '20010000', digits: [8, 10, 12, 14] }, // Teredo's server (RFC 4380)
  { prefix: '20010000', digits: lastBytes, isInverted: true }, // Teredo's client
];

/**
 * The reason why a host must not be connected to, such as `address 169.254.169.254 is link-local: refused`.
 * Undefined if it may be: private and loopback addresses may, since receivers live there. A name is only
 * compared with those of metadata services; its addresses have to be checked too, once they are resolved.
 *
 * @param host the `hostname` of a URL, the host of a `host:port`, or an address as a resolver returns it, with or
 *   without a zone
 */
export function hostRefusal(host: string): string | undefined {
  const bare = canonical(host.replace(/^\[|\]$|\.+$/g, '').toLowerCase());
  const address = bare.split('%')[0] ?? '';
  if (isIP(address) === 0) {
    return metadataNames.has(bare) ? `${bare} is a cloud metadata service: refused` : undefined;
  }
  for (const form of [address, ...embeddedIn(address)]) {
    const family = isIP(form) === 4 ? 'ipv4' : 'ipv6';
    if (linkLocal.check(form, family)) return `address ${bare} is link-local: refused`;
    if (metadata.check(form, family)) return `address ${bare} is a cloud metadata service: refused`;
  }
  return undefined;
}

/**
 * The IPv4 address that resolvers read out of a host such as `2852039166`, `0xa9.254.43518` or `169。254。169。254`,
 * as URL parsers do; every other host as it is.
 */
function canonical(host: string): string {
  const url = `http://${host}`;
  if (isIP(host.split('%')[0] ?? '') !== 0 || !URL.canParse(url)) return host;
  const { hostname } = new URL(url);
  return isIP(hostname) === 4 ? hostname : host;
}

/** IPv4 addresses that an IPv6 address leads to. */
function embeddedIn(address: string): string[] {
  if (isIP(address) !== 6) return [];
  const hex = hexOf(address);
  return embeddings
    .filter(({ prefix }) => hex.startsWith(prefix))
    .map(({ digits, isInverted = false }) =>
      digits
        .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) ^ (isInverted ? 0xff : 0))
        .join('.'),
    );
}

/** The 32 hexadecimal digits of an IPv6 address. */
function hexOf(address: string): string {
  // URL writes every spelling in one way: hexadecimal groups, the longest row of zeros as "::".
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [head, tail].map((groups) =>
    groups
      .split(':')
      .filter((group) => group !== '')
      .map((group) => group.padStart(4, '0'))
      .join(''),
  );
  return `${(left ?? '').padEnd(32 - (right ?? '').length, '0')}${right ?? ''}`;
}

function rangesOf(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefixBits] of ranges) {
    list.addSubnet(network, prefixBits, isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
