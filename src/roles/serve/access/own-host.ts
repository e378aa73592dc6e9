import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an address of a socket is of this machine alone. IPv4 in IPv6 (`::ffff:127.0.0.1`) counts. */
export function isLoopback(address: string | undefined): boolean {
  const bare = address?.split('%')[0] ?? '';
  const family = isIP(bare);
  return family !== 0 && loopback.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Whether a `Host` header names a loopback address itself, on any port: a forwarded port is another one. A
 * page elsewhere can let its own name resolve to 127.0.0.1 (DNS rebinding), but the header then has that name.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  const name = /^(\[[^\]]+\]|[^:]+)(?::\d{1,5})?$/.exec(host?.toLowerCase() ?? '')?.[1] ?? '';
  return name === 'localhost' || isLoopback(name.replace(/^\[|\]$/g, ''));
}
